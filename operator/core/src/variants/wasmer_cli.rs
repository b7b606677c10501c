//! `wasmer-cli`: the gateway, with each answer passed through a Wasm module by a process of its
//! own, which is Wasmer's library behind our own command line. The code was compiled when the image
//! was built, or is compiled by that process.

use wasmbench_api::run::{Compile, Engine, EnvVar};

use crate::config::Images;
use crate::variants::wasmedge_cli::COMPILE_ENV;
use crate::variants::{SubjectSpec, gateway};

/// The module's whole effect on an answer.
const BODY_PREFIX: &str = "wasm:";

/// When it compiles; unless the spec says otherwise, ahead of time.
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
        ..gateway(&images.wasmer_cli, images)
    }
}
