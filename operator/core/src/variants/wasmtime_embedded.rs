//! `wasmtime-embedded`: the same gateway, with each answer passed through a Wasm module in-process.
//! The module is compiled once; every request gets a fresh instance. The price of Wasm without the
//! price of a process.

use wasmbench_api::run::{Engine, EnvVar};

use super::{SubjectSpec, gateway};
use crate::config::Images;

/// The module's whole effect on an answer.
const BODY_PREFIX: &str = "wasm:";
/// Read by the gateway when it builds its engine.
const ALLOCATOR_ENV: &str = "WASMBENCH_ENGINE_ALLOCATOR";

pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    let allocator: &'static str = engine.allocator.into();
    SubjectSpec {
        env: vec![EnvVar {
            name: ALLOCATOR_ENV.into(),
            value: allocator.into(),
        }],
        body_prefix: BODY_PREFIX,
        ..gateway(&images.embedded, images)
    }
}
