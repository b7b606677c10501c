//! `wasmtime-cli`: the gateway, with each answer passed through a Wasm module by a `wasmtime run`
//! of its own, with code that was compiled when the image was built. The price of a process per
//! request.

use crate::config::Images;
use crate::variants::{BODY_PREFIX, SubjectSpec, gateway};

pub(super) fn subject(images: &Images) -> SubjectSpec {
    SubjectSpec {
        body_prefix: BODY_PREFIX,
        ..gateway(&images.wasmtime_cli, images)
    }
}
