//! `native`: the gateway as a static binary under the node's default runtime. The price of a plain
//! container.

use super::{SubjectSpec, gateway};
use crate::config::Images;

pub(super) fn subject(images: &Images) -> SubjectSpec {
    gateway(&images.native, images)
}
