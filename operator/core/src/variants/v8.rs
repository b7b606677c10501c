//! `v8`: the gateway with each answer passed through a Wasm module by a process of Node.js, whose
//! V8 compiles it each time.

use crate::config::Images;
use crate::variants::{SubjectSpec, gateway};

/// The module's whole effect on an answer.
const BODY_PREFIX: &str = "wasm:";

pub(super) fn subject(images: &Images) -> SubjectSpec {
    SubjectSpec {
        body_prefix: BODY_PREFIX,
        ..gateway(&images.v8, images)
    }
}
