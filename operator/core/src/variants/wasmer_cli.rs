//! `wasmer-cli`: the gateway, with each answer passed through a Wasm module by a process of its
//! own, which is Wasmer's library behind our own command line. The code was compiled when the image
//! was built, or is compiled by that process.

use wasmbench_api::run::Engine;

use crate::config::Images;
use crate::variants::{BODY_PREFIX, SubjectSpec, compile, compile_env, gateway};

pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    SubjectSpec {
        env: vec![compile_env(compile(engine))],
        body_prefix: BODY_PREFIX,
        ..gateway(&images.wasmer_cli, images)
    }
}
