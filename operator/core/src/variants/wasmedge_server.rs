//! `wasmedge-server`: the module of `wasmedge-shim` as the guest of a `wasmedge` process, in an
//! ordinary pod. It differs from the shim in the path from containerd to the runtime.

use wasmbench_api::run::Engine;

use crate::config::Images;
use crate::variants::{SubjectSpec, compile, compile_env, gateway};

/// With this argument, the image's program becomes `wasmedge` with the gateway as its guest.
const SERVE: &str = "serve-wasmedge";

pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    SubjectSpec {
        args: vec![SERVE.into()],
        env: vec![compile_env(compile(engine))],
        ..gateway(&images.wasmedge_cli, images)
    }
}
