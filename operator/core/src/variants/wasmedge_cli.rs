//! `wasmedge-cli`: the gateway, with each answer passed through a Wasm module by a `wasmedge`
//! process of its own, which runs code compiled when the image was built, or interprets.

use wasmbench_api::run::Engine;

use crate::config::Images;
use crate::variants::{BODY_PREFIX, SubjectSpec, compile, compile_env, gateway};

pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    SubjectSpec {
        env: vec![compile_env(compile(engine))],
        body_prefix: BODY_PREFIX,
        ..gateway(&images.wasmedge_cli, images)
    }
}
