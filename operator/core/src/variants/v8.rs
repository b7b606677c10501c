//! `v8`: the gateway, with each answer passed through a Wasm module by a Node.js process, whose V8
//! compiles the module each time.

use crate::config::Images;
use crate::variants::{BODY_PREFIX, SubjectSpec, gateway};

pub(super) fn subject(images: &Images) -> SubjectSpec {
    SubjectSpec {
        body_prefix: BODY_PREFIX,
        ..gateway(&images.v8, images)
    }
}
