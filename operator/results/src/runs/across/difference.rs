//! One difference between two runs.

use wasmbench_model::units::truncate;

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
        before: truncate(before, MAX_VALUE_CHARS),
        after: truncate(after, MAX_VALUE_CHARS),
    })
}
