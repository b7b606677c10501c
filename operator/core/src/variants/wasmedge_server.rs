//! `wasmedge-server`: the module of `wasmedge-shim` as the guest of a `wasmedge` process, in an
//! ordinary pod. It differs from the shim in the path from containerd to the runtime.

use wasmbench_api::run::{Engine, EnvVar};

use crate::config::Images;
use crate::variants::wasmedge_cli::{COMPILE_ENV, compile};
use crate::variants::{SubjectSpec, gateway};

/// With this argument, the image's program becomes `wasmedge` with the gateway as its guest.
const SERVE: &str = "serve-wasmedge";

pub(super) fn subject(images: &Images, engine: Engine) -> SubjectSpec {
    SubjectSpec {
        args: vec![SERVE.into()],
        env: vec![EnvVar {
            name: COMPILE_ENV.into(),
            value: <&str>::from(compile(engine)).into(),
        }],
        ..gateway(&images.wasmedge_cli, images)
    }
}
