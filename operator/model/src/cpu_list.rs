//! Lists of CPUs as the kernel writes them: `0`, `0-3`, `0-3,8-11`. Pure.

use std::fmt;

/// Largest accepted CPU number: the kernel's own bound is 8192.
const MAX_CPU: u32 = 65_535;

/// A set of CPUs, as ranges with both ends included, in ascending order and never adjacent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList {
    ranges: Vec<(u32, u32)>,
}

impl CpuList {
    /// Parses a list; `None` if the text is empty or not a list.
    pub fn parse(text: &str) -> Option<Self> {
        let of_range = |range: &str| {
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            (first <= last && last <= MAX_CPU).then_some((first, last))
        };
        let ranges: Option<Vec<_>> = text.trim().split(',').map(of_range).collect();
        Some(Self::from_ranges(ranges?))
    }

    /// The number of CPUs in the list.
    pub fn count(&self) -> u32 {
        self.ranges
            .iter()
            .map(|(first, last)| last - first + 1)
            .sum()
    }

    /// The CPUs of both lists.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::from_ranges([self.ranges.as_slice(), &other.ranges].concat())
    }

    /// Whether the two have no CPU in common.
    pub fn is_disjoint(&self, other: &Self) -> bool {
        let apart = |a: &(u32, u32), b: &(u32, u32)| a.1 < b.0 || b.1 < a.0;
        let of_other = |a: &(u32, u32)| other.ranges.iter().all(|b| apart(a, b));
        self.ranges.iter().all(of_other)
    }

    fn from_ranges(mut ranges: Vec<(u32, u32)>) -> Self {
        ranges.sort_unstable();
        let mut joined: Vec<(u32, u32)> = vec![];
        for (first, last) in ranges {
            match joined.last_mut() {
                Some(before) if first <= before.1 + 1 => before.1 = before.1.max(last),
                _ => joined.push((first, last)),
            }
        }
        Self { ranges: joined }
    }
}

impl fmt::Display for CpuList {
    /// As the kernel writes it; [`CpuList::parse`] reads it back.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |(first, last): &(u32, u32)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}-{last}")
            }
        };
        let texts = self.ranges.iter().map(text);
        f.write_str(&texts.collect::<Vec<_>>().join(","))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> CpuList {
        CpuList::parse(text).unwrap()
    }

    #[test]
    fn cpus_are_counted_in_the_kernels_list() {
        let counts = ["0", "0-3", "0-3,8-11", "1,3\n"].map(|text| list(text).count());
        assert_eq!(counts, [1, 4, 8, 2]);
        let none = ["", "many", "3-0", "0-4294967295", "1,,2"].map(CpuList::parse);
        assert_eq!(none, [const { None }; 5]);
    }

    #[test]
    fn lists_without_a_common_cpu_are_disjoint() {
        assert!(list("2-3").is_disjoint(&list("0-1,4-7")));
        assert!(!list("2-4").is_disjoint(&list("0-1,4-7")));
        assert!(!list("0-1").is_disjoint(&list("0-1")));
    }

    fn set(list: &CpuList) -> BTreeSet<u32> {
        list.ranges.iter().flat_map(|(a, b)| *a..=*b).collect()
    }

    prop_compose! {
        fn any_list()(ranges in prop::collection::vec((0u32..60, 0u32..6), 1..6)) -> CpuList {
            CpuList::from_ranges(ranges.into_iter().map(|(first, more)| (first, first + more)).collect())
        }
    }

    proptest! {
        #[test]
        fn lists_are_sets(a in any_list(), b in any_list()) {
            let (one, other) = (set(&a), set(&b));
            prop_assert_eq!(a.count() as usize, one.len());
            prop_assert_eq!(a.is_disjoint(&b), one.is_disjoint(&other));
            prop_assert_eq!(set(&a.union(&b)), one.union(&other).copied().collect::<BTreeSet<_>>());
            prop_assert_eq!(CpuList::parse(&a.to_string()), Some(a));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[-0-9, a]{0,30}") {
            let _ = CpuList::parse(&text);
        }
    }
}
