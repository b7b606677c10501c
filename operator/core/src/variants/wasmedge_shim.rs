//! `wasmedge-shim`: the gateway itself, compiled from the same source to a WASI 0.1 module with
//! WasmEdge's sockets, in a pod that containerd hands to the WasmEdge shim. The image decides which
//! code runs: a plain module is interpreted, while a module that contains WasmEdge's compiled code
//! runs that.

use wasmbench_api::run::{Compile, Engine};

use crate::config::{Images, RuntimeClasses};
use crate::variants::{SubjectSpec, compile, gateway};

pub(super) fn subject(images: &Images, classes: &RuntimeClasses, engine: Engine) -> SubjectSpec {
    let image = match compile(engine) {
        Compile::Interpreter => &images.server_wasmedge,
        // Validation refuses Jit.
        Compile::Aot | Compile::Jit => &images.server_wasmedge_aot,
    };
    SubjectSpec {
        runtime_class: Some(classes.wasmedge.clone()),
        ..gateway(image, images)
    }
}
