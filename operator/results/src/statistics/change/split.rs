//! A history divided in two, as far as the parts can be compared: run by run within strata.
//! Differences between strata, such as a new kernel, thus affect no comparison and need not be
//! estimated.

use crate::statistics::change::entry::Entry;
use crate::statistics::change::group::{Group, side};
use crate::statistics::change::interval;
use crate::statistics::change::ranks;
use crate::statistics::change::sizes;
use crate::statistics::mean;

/// The fewest runs before a change in the same strata as runs after it. With fewer, not even a
/// change of many times the scatter is certain.
pub const FEWEST_BEFORE: usize = 5;

/// The fewest runs after a change. A shift that reverts after one run is an outlier, and two
/// outliers in a row occur by chance.
pub const FEWEST_AFTER: usize = 3;

/// The comparable runs before and after a place in the history.
pub(super) struct Split {
    groups: Vec<Group>,
    /// How far the first run after lies from the mean of the runs before in its stratum.
    first: f64,
}

impl Split {
    /// Splits a history. `None` if too few runs can be compared, or if the first run after cannot:
    /// a change begins with a run that shows it.
    pub(super) fn new(before: &[Entry], after: &[Entry]) -> Option<Self> {
        let run = after.first()?;
        let (like_first, _) = side(run.stratum, before);
        if like_first.is_empty() {
            return None;
        }
        let first = run.number - mean(&like_first);
        let mut strata: Vec<usize> = after.iter().map(|run| run.stratum).collect();
        strata.sort_unstable();
        strata.dedup();
        let groups: Vec<Group> = strata
            .into_iter()
            .map(|stratum| Group::new(stratum, before, after))
            .filter(|group| !group.before.is_empty())
            .collect();
        let before: usize = groups.iter().map(|group| group.before.len()).sum();
        let after: usize = groups.iter().map(|group| group.after.len()).sum();
        (before >= FEWEST_BEFORE && after >= FEWEST_AFTER).then_some(Self { groups, first })
    }

    /// The smaller p-value of two tests. Ranks find small changes under any noise, but in a short
    /// history they cannot find even a large one; sizes can.
    pub(super) fn p_value(&self) -> f64 {
        if !self.begins_with_first() {
            return 1.0;
        }
        ranks::p_value(&self.groups).min(sizes::p_value(&self.groups))
    }

    /// Whether the first run after is closer to the level after. Otherwise a large change would be
    /// found one run too early, together with a run before it.
    fn begins_with_first(&self) -> bool {
        let size = sizes::size(&self.groups);
        self.first * size.signum() >= size.abs() / 2.0
    }

    /// The level after minus the level before, and its 95 % interval.
    pub(super) fn size(&self) -> (f64, (f64, f64)) {
        interval::estimate(&self.groups)
    }
}
