//! How narrow intervals have to be.

use wasmbench_api::run::share_of;

use crate::judge::precision::width::Width;

/// How far the intervals of a run may reach: those of ratios as its spec says, and those of
/// differences half of the smallest difference that matters.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    written: String,
    share: f64,
}

impl Target {
    /// The target as the spec has it, in percent.
    pub fn new(written: String) -> Self {
        // validate rejects anything that is not a share.
        let share = share_of(&written).unwrap_or_default();
        Self { written, share }
    }

    /// The target for ratios, as in the spec.
    pub fn as_written(&self) -> &str {
        &self.written
    }

    /// The interval that exceeds its target most.
    pub(super) fn widest<'a>(&self, widths: &'a [Width]) -> Option<&'a Width> {
        let excess = |width: &Width| width.excess(self.share);
        widths
            .iter()
            .max_by(|one, other| excess(one).total_cmp(&excess(other)))
    }

    /// The blocks that an interval needs, as it shows in the pilot.
    pub(super) fn needed(&self, width: &Width, pilot: u32) -> Option<u32> {
        width.needed(self.share, pilot)
    }

    /// A width and its target in words.
    pub(super) fn text(&self, width: &Width) -> (String, String) {
        width.text(&self.written)
    }
}
