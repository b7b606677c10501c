//! `gvisor`: the native gateway in a pod of gVisor's `RuntimeClass`. The price of a sandbox that is no Wasm: a
//! kernel in user space between the process and the node.

use super::{SubjectSpec, gateway};
use crate::config::{Images, RuntimeClasses};

pub(super) fn subject(images: &Images, classes: &RuntimeClasses) -> SubjectSpec {
    SubjectSpec {
        runtime_class: Some(classes.gvisor.clone()),
        ..gateway(&images.native, images)
    }
}
