//! `wasmtime-shim`: the gateway itself, compiled from the same source to a WASI 0.2 component, in a
//! pod that containerd hands to the wasmtime shim. The price of Wasm in place of a container.

use crate::config::{Images, RuntimeClasses};
use crate::variants::{SubjectSpec, gateway};

pub(super) fn subject(images: &Images, classes: &RuntimeClasses) -> SubjectSpec {
    SubjectSpec {
        runtime_class: Some(classes.wasmtime.clone()),
        ..gateway(&images.server, images)
    }
}
