//! `wasmtime-embedded`: the same gateway, with each answer passed through a Wasm module in-process.
//! The module is compiled once, at startup or earlier; every request gets a fresh instance. The
//! price of Wasm without the price of a process.

use wasmbench_api::run::{Engine, EnvVar};

use crate::config::Images;
use crate::variants::{BODY_PREFIX, SubjectSpec, compile, compile_env, gateway};

/// Read by the gateway when it builds its engine.
const ALLOCATOR_ENV: &str = "WASMBENCH_ENGINE_ALLOCATOR";

/// A process that has compiled keeps the compiler's heap, 5 MiB and more, which it does not need for
/// serving: so it does not compile unless the spec says so.
pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    let allocator = EnvVar {
        name: ALLOCATOR_ENV.into(),
        value: <&str>::from(engine.allocator).into(),
    };
    SubjectSpec {
        env: vec![allocator, compile_env(compile(engine))],
        body_prefix: BODY_PREFIX,
        ..gateway(&images.embedded, images)
    }
}
