//! A median with the extremes behind it: with a handful of blocks that says all there is.

use serde::{Deserialize, Serialize};

use super::super::units;

/// A median with the smallest and the largest value behind it, in the unit of the values.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// The value in the middle; the mean of the middle two when their number is even.
    pub median: f64,
    /// The smallest value.
    pub low: f64,
    /// The largest value.
    pub high: f64,
}

impl Range {
    /// The range of `values`; `None` when there are none. Values that are no numbers are left out.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let mut sorted: Vec<f64> = finite.collect();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let half = sorted.len() / 2;
        let upper = *sorted.get(half)?;
        let lower = *sorted.get((sorted.len() - 1) / 2)?;
        Some(Self {
            median: f64::midpoint(lower, upper),
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

    /// As a ratio, `0.52x (0.48-0.55)`; without the extremes when there is one block only.
    pub fn ratio_text(self, blocks: u32) -> String {
        let median = units::ratio(self.median);
        if blocks < 2 {
            return median;
        }
        let (low, high) = (
            units::ratio_number(self.low),
            units::ratio_number(self.high),
        );
        format!("{median} ({low}-{high})")
    }
}

/// The median of `values`; `None` when there are none.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    Range::of(values).map(|range| range.median)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_value_or_the_mean_of_two() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([f64::NAN]), None);
    }
}
