//! A history divided in two, as far as its parts can be compared: run by run within strata. What
//! differs between strata, such as a new kernel, is thus in no comparison, and nothing has to be
//! estimated for it.

use crate::statistics::change::entry::Entry;
use crate::statistics::change::group::{Group, side};
use crate::statistics::change::interval;
use crate::statistics::change::ranks;
use crate::statistics::change::sizes;
use crate::statistics::mean;

/// Fewest runs before a change that are of the same strata as runs after it. Of fewer not even a
/// change of many times the scatter is certain.
pub const FEWEST_BEFORE: usize = 5;

/// Fewest runs after a change. What goes back after one run is an outlier, and two outliers in a
/// row occur by chance.
pub const FEWEST_AFTER: usize = 3;

/// The runs before and after a place in the history that can be compared.
pub(super) struct Split {
    groups: Vec<Group>,
    /// How far the first run after lies from the mean of those before of its stratum.
    first: f64,
}

impl Split {
    /// `None` where too few can be compared, or the first run after cannot: a change begins with a
    /// run that shows it.
    pub(super) fn of(before: &[Entry], after: &[Entry]) -> Option<Self> {
        let first = after.first()?;
        let (like_first, _) = side(first.stratum, before);
        if like_first.is_empty() {
            return None;
        }
        let first = first.ratio - mean(&like_first);
        let mut strata: Vec<usize> = after.iter().map(|run| run.stratum).collect();
        strata.sort_unstable();
        strata.dedup();
        let groups = strata
            .into_iter()
            .map(|stratum| Group::of(stratum, before, after));
        let groups: Vec<Group> = groups.filter(|group| !group.before.is_empty()).collect();
        let before: usize = groups.iter().map(|group| group.before.len()).sum();
        let after: usize = groups.iter().map(|group| group.after.len()).sum();
        (before >= FEWEST_BEFORE && after >= FEWEST_AFTER).then_some(Self { groups, first })
    }

    /// The lesser of two tests. Ranks find small changes under any noise; where the history is
    /// short they cannot find even a large one, and sizes can.
    pub(super) fn p_value(&self) -> f64 {
        if !self.begins_with_first() {
            return 1.0;
        }
        ranks::p_value(&self.groups).min(sizes::p_value(&self.groups))
    }

    /// Whether the first run after is nearer to what is after. Else a large change is found one run
    /// too early, together with a run before it.
    fn begins_with_first(&self) -> bool {
        let size = sizes::size(&self.groups);
        self.first * size.signum() >= size.abs() / 2.0
    }

    /// The logarithm of the ratio of what is after to what is before, and its 95 % interval.
    pub(super) fn size(&self) -> (f64, (f64, f64)) {
        interval::of(&self.groups)
    }
}
