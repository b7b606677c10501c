//! `wasmedge-cli`: the gateway, with each answer passed through a Wasm module by a `wasmedge`
//! process of its own, which runs code compiled when the image was built, or interprets.

use wasmbench_api::run::{Compile, Engine, EnvVar};

use crate::config::Images;
use crate::variants::{SubjectSpec, gateway};

/// The module's whole effect on an answer.
const BODY_PREFIX: &str = "wasm:";
/// Read by the gateway when it chooses the module.
pub(super) const COMPILE_ENV: &str = "WASMBENCH_ENGINE_COMPILE";

/// How it executes; unless the spec says otherwise, compiled ahead of time.
pub(super) fn compile(engine: Engine) -> Compile {
    engine.compile.unwrap_or(Compile::Aot)
}

pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    SubjectSpec {
        env: vec![EnvVar {
            name: COMPILE_ENV.into(),
            value: <&str>::from(compile(engine)).into(),
        }],
        body_prefix: BODY_PREFIX,
        ..gateway(&images.wasmedge_cli, images)
    }
}
