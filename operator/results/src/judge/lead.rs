//! What leads: the one order of comparisons that the line of a run, its cards, its tables and its pages have. What
//! the run was to decide comes first, and of this what is decided, the largest difference first. Verdicts in,
//! places out; nothing is left out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::judge::comparison::Comparison;
use crate::judge::verdict::Verdict;

/// The place of a comparison among others: the smallest leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lead {
    is_secondary: bool,
    is_undecided: bool,
    is_untrusted: bool,
    /// The distance of the ratio from 1 as a logarithm. Floats that are not negative are ordered like their bits.
    size: Reverse<u64>,
}

impl Lead {
    /// The place of a comparison with this verdict and ratio. Only a difference has a size: a wide interval may
    /// be far from 1 by chance.
    pub fn new(is_primary: bool, verdict: Verdict, is_trusted: bool, ratio: f64) -> Self {
        let distance = libm::log(ratio).abs();
        let is_known = verdict.is_difference() && !distance.is_nan();
        Self {
            is_secondary: !is_primary,
            is_undecided: !verdict.is_decided(),
            is_untrusted: !is_trusted,
            size: Reverse(if is_known { distance.to_bits() } else { 0 }),
        }
    }
}

impl Comparison {
    /// Its place among the comparisons of its run.
    pub fn lead(&self) -> Lead {
        let is_trusted = self.untrusted.is_empty();
        Lead::new(
            self.primary,
            self.verdict,
            is_trusted,
            self.estimate.stated(),
        )
    }
}

/// The comparisons, what leads first; equal ones stay in their order.
pub fn leading<'a>(all: impl IntoIterator<Item = &'a Comparison>) -> Vec<&'a Comparison> {
    let mut all: Vec<&Comparison> = all.into_iter().collect();
    all.sort_by_key(|one| one.lead());
    all
}

/// The place of each group: that of what leads in it.
pub fn of_groups<K: Ord>(all: impl IntoIterator<Item = (K, Lead)>) -> BTreeMap<K, Lead> {
    let mut groups = BTreeMap::new();
    for (group, lead) in all {
        let first = groups.entry(group).or_insert(lead);
        *first = lead.min(*first);
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lead(verdict: Verdict, ratio: f64) -> Lead {
        Lead::new(true, verdict, true, ratio)
    }

    #[test]
    fn the_largest_decided_difference_leads_and_undecided_ratios_come_last() {
        let order = [
            lead(Verdict::Slower, 4.52),
            lead(Verdict::Slower, 0.5),
            lead(Verdict::Larger, 1.1),
            lead(Verdict::Equivalent, 1.01),
            Lead::new(true, Verdict::Slower, false, 9.84),
            lead(Verdict::Inconclusive, 20.0),
            Lead::new(false, Verdict::Slower, true, 30.0),
        ];
        assert!(order.is_sorted(), "{order:?}");
    }

    #[test]
    fn ratios_without_a_decision_have_no_order_among_themselves() {
        for verdict in [Verdict::Inconclusive, Verdict::Equivalent] {
            assert_eq!(lead(verdict, 1.0), lead(verdict, 1.04));
        }
        assert_eq!(lead(Verdict::Slower, -1.0).size, Reverse(0));
    }

    #[test]
    fn a_group_has_the_place_of_what_leads_in_it() {
        let (far, near) = (lead(Verdict::Slower, 3.0), lead(Verdict::Slower, 1.2));
        let groups = of_groups([("a", near), ("b", near), ("a", far)]);
        assert_eq!(groups, BTreeMap::from([("a", far), ("b", near)]));
    }
}
