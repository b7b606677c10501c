//! One difference between two runs.

use wasmbench_model::units::cut;

use crate::runs::across::{Difference, Weight};

pub(super) const ABSENT: &str = "absent";

/// Longest value in a list of differences, in characters.
const MAX_VALUE_CHARS: usize = 120;

pub(super) fn difference(
    weight: Weight,
    what: String,
    before: &str,
    after: &str,
) -> Option<Difference> {
    (before != after).then(|| Difference {
        weight,
        what,
        before: cut(before, MAX_VALUE_CHARS),
        after: cut(after, MAX_VALUE_CHARS),
    })
}
