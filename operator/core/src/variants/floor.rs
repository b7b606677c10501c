//! The harness's floor: not a variant, but a subject that does nothing except listen. It runs the
//! probe's own image, which is already on the node, under the node's default runtime.

use crate::config::Images;
use crate::variants::{SubjectSpec, gateway};

/// The probe's command that listens.
const COMMAND: &str = "listen";

/// What the pod of the floor runs.
pub fn subject(images: &Images) -> SubjectSpec {
    SubjectSpec {
        args: vec![COMMAND.into()],
        ..gateway(&images.probe, images)
    }
}
