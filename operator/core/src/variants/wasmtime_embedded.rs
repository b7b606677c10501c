//! `wasmtime-embedded`: the same gateway, with each answer passed through a Wasm module in-process.
//! The module is compiled once, at startup or earlier; every request gets a fresh instance. The
//! price of Wasm without the price of a process.

use wasmbench_api::run::{Compile, Engine, EnvVar};

use crate::config::Images;
use crate::variants::{SubjectSpec, gateway};

/// The module's whole effect on an answer.
const BODY_PREFIX: &str = "wasm:";
/// Read by the gateway when it builds its engine.
const ALLOCATOR_ENV: &str = "WASMBENCH_ENGINE_ALLOCATOR";

const COMPILE_ENV: &str = "WASMBENCH_ENGINE_COMPILE";

/// When the module is compiled; unless the spec says otherwise, ahead of time. A process that has
/// compiled keeps the compiler's heap, 5 MiB and more, which it does not need for serving.
pub(super) fn compile(engine: Engine) -> Compile {
    engine.compile.unwrap_or(Compile::Aot)
}

pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    let allocator: &'static str = engine.allocator.into();
    let variable = |name: &str, value: &str| EnvVar {
        name: name.into(),
        value: value.into(),
    };
    SubjectSpec {
        env: vec![
            variable(ALLOCATOR_ENV, allocator),
            variable(COMPILE_ENV, compile(engine).into()),
        ],
        body_prefix: BODY_PREFIX,
        ..gateway(&images.embedded, images)
    }
}
