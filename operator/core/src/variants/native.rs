//! `native`: the gateway as a static binary under the node's default runtime. The price of a plain
//! container.

use crate::config::Images;
use crate::variants::{SubjectSpec, gateway};

pub(super) fn subject(images: &Images) -> SubjectSpec {
    gateway(&images.native, images)
}
