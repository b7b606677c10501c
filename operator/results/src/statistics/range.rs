//! Trials of several points taken together: the median trial and the extremes. Such a median has no
//! interval, because trials of the same point are more alike than those of different points.

use serde::{Deserialize, Serialize};

use crate::statistics::{median, sorted};

/// A median with the smallest and the largest value, in the unit of the values.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// The value in the middle; the mean of the middle two if the number of values is even.
    pub median: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
}

impl Range {
    /// The range of `values`; `None` if there are none. Values that are not finite are left out.
    pub fn from_values(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sorted = sorted(values);
        Some(Self {
            min: *sorted.first()?,
            max: *sorted.last()?,
            median: median(sorted)?,
        })
    }

    /// Applies `change` to every number.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            median: change(self.median),
            min: change(self.min),
            max: change(self.max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_reaches_from_the_smallest_to_the_largest_value() {
        let range = Range::from_values((1..=20).rev().map(f64::from)).unwrap();
        assert_eq!((range.min, range.median, range.max), (1.0, 10.5, 20.0));
        assert_eq!(Range::from_values([f64::NAN]), None);
    }
}
