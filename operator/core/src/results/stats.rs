//! The few statistics that results are made of. Pure functions over plain numbers; medians are
//! used throughout, because one slow trial must not move a result and must not be trimmed either.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A median with the smallest and the largest value behind it, in the unit of the values.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// The value in the middle; the mean of the middle two when their number is even.
    pub median: f64,
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
}

impl Spread {
    /// The spread of `values`; `None` when there are none. Values that are no numbers are left out.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sorted = sorted(values);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        Some(Self {
            median: middle(&sorted)?,
            low,
            high,
        })
    }

    /// The same with every number passed through `change`.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            median: change(self.median),
            low: change(self.low),
            high: change(self.high),
        }
    }
}

/// The median of `values`; `None` when there are none.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    middle(&sorted(values))
}

fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values
        .into_iter()
        .filter(|value| value.is_finite())
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(half.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

/// `value / base` for every key that both maps hold, in the order of the keys. The keys are
/// blocks: both values of a pair saw the same hour of the node's day.
pub fn paired_ratios(value: &BTreeMap<u32, f64>, base: &BTreeMap<u32, f64>) -> Vec<f64> {
    let ratio = |(block, value): (&u32, &f64)| {
        let ratio = value / base.get(block)?;
        ratio.is_finite().then_some(ratio)
    };
    value.iter().filter_map(ratio).collect()
}

/// `value` rounded to `digits` significant decimal digits.
pub fn round_significant(value: f64, digits: usize) -> f64 {
    if !value.is_finite() {
        return value;
    }
    // Through decimal text: the result is the shortest number that prints with these digits.
    format!("{value:.*e}", digits.saturating_sub(1))
        .parse()
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_median_is_the_middle_value() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn numbers_are_rounded_to_significant_digits() {
        let rounded = |value| round_significant(value, 4).to_string();
        assert_eq!(rounded(12_345.678), "12350");
        assert_eq!(rounded(0.000_123_456), "0.0001235");
        assert_eq!(rounded(0.0), "0");
        assert!(round_significant(f64::NAN, 4).is_nan());
    }

    #[test]
    fn ratios_are_taken_within_blocks_only() {
        let value = BTreeMap::from([(1, 2.0), (2, 9.0), (4, 3.0)]);
        let base = BTreeMap::from([(1, 4.0), (3, 9.0), (4, 0.0)]);
        assert_eq!(paired_ratios(&value, &base), [0.5]);
    }

    proptest! {
        #[test]
        fn a_median_lies_between_the_extremes(values in prop::collection::vec(-1e9..1e9, 1..50)) {
            let spread = Spread::of(values).unwrap();
            prop_assert!(spread.low <= spread.median && spread.median <= spread.high);
        }

        #[test]
        fn the_order_of_values_does_not_matter(
            (one, other) in prop::collection::vec(0.0..1e9, 1..20)
                .prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
        ) {
            prop_assert_eq!(Spread::of(one), Spread::of(other));
        }

        #[test]
        fn a_variant_compared_with_itself_gives_one(
            values in prop::collection::btree_map(1u32..50, 1e-6..1e9, 1..20)
        ) {
            prop_assert_eq!(paired_ratios(&values, &values), vec![1.0; values.len()]);
        }
    }
}
