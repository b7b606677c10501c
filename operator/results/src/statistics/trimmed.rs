//! The trimmed mean of one sample, with its standard error.

use crate::statistics::between_runs::OfRun;
use crate::statistics::{Scale, mean, sorted, square};

/// From [`FULL`] blocks on, one in this many is trimmed at each end, and at least one. Trimming more
/// costs power if blocks are few; trimming nothing lets single outliers widen intervals threefold.
const ONE_IN: usize = 8;

/// With this many blocks, a whole one is trimmed at each end. With fewer, a third less of it for
/// each: a block that was trimmed all at once would make the interval of 8 blocks wider than that of 7.
const FULL: usize = 10;

/// What is trimmed of a sample at each end.
#[derive(Clone, Copy)]
pub(super) struct Trimming {
    count: usize,
    /// The number of values, in thirds.
    thirds: usize,
}

impl Trimming {
    /// What is trimmed of this many values.
    pub(super) fn new(count: usize) -> Self {
        let thirds = if count < FULL {
            (count + 3).saturating_sub(FULL)
        } else {
            3 * (count / ONE_IN).max(1)
        };
        Self { count, thirds }
    }

    /// The share of one value that is trimmed, at most 1. What trimming costs grows with it.
    pub(super) fn first(self) -> f64 {
        self.thirds.min(3) as f64 / 3.0
    }

    /// The number of values that are kept, with parts of them.
    fn kept(self) -> f64 {
        self.count as f64 - 2.0 * self.thirds as f64 / 3.0
    }

    /// Degrees of freedom: one less than the number of kept values, as in Tukey and McLaughlin, and
    /// less again by [`Trimming::first`]. Without the latter, the intervals of 10 blocks miss the
    /// truth more often than they say, and at the extreme levels of adjusted p-values a quarter too
    /// often.
    pub(super) fn freedom(self) -> u32 {
        let thirds = 3 * self.count - 2 * self.thirds - 3 - self.thirds.min(3);
        u32::try_from(thirds / 3).unwrap_or(u32::MAX)
    }

    /// The values to which those beyond are moved: the outermost that are kept. Where only a part of
    /// the outermost value is trimmed, it is moved by that part towards its neighbour.
    fn bounds(self, sorted: &[f64]) -> (f64, f64) {
        let (whole, part) = (self.thirds / 3, (self.thirds % 3) as f64 / 3.0);
        let at = |place: usize, next: usize| sorted[place] + part * (sorted[next] - sorted[place]);
        let last = self.count - 1 - whole;
        if part > 0.0 {
            (at(whole, whole + 1), at(last, last - 1))
        } else {
            (sorted[whole], sorted[last])
        }
    }

    /// The mean of what is kept of `sorted`, and those [`bounds`](Self::bounds).
    fn mean(self, sorted: &[f64]) -> (f64, (f64, f64)) {
        let whole = self.thirds / 3;
        let kept = &sorted[whole..self.count - whole];
        let (first, last) = (kept[0], kept[kept.len() - 1]);
        // Identical values have an exact mean, which a sum would round.
        if first.total_cmp(&last).is_eq() {
            return (first, (first, first));
        }
        let part = (self.thirds % 3) as f64 / 3.0;
        let sum = kept.iter().sum::<f64>() - part * (first + last);
        (sum / self.kept(), self.bounds(sorted))
    }
}

/// An estimate with its standard error: a trimmed mean of logarithms or of values, or a slope.
#[derive(Clone, Copy, Debug)]
pub struct Estimated {
    pub(super) estimate: f64,
    /// The standard error; `None` for a single value, which shows no spread.
    pub(super) error: Option<f64>,
    /// Degrees of freedom; 0 without an error.
    pub(super) freedom: u32,
}

impl Estimated {
    pub(super) fn as_run(&self) -> OfRun {
        OfRun {
            estimate: self.estimate,
            error: self.error,
        }
    }

    /// The trimmed mean of `values` on a scale. Values that have no place there are left out; `None`
    /// if none is left.
    pub fn from_values(values: &[f64], scale: Scale) -> Option<Self> {
        Self::from_columns(values.iter().map(|value| [scale.transform(*value)]))
    }

    /// The mean of the trimmed means of what a variant is to the baseline and to its twin, one pair
    /// per block. Pairs that have no place on the scale are left out; `None` if none is left.
    pub fn from_pairs(pairs: &[[f64; 2]], scale: Scale) -> Option<Self> {
        let on_scale = |pair: &[f64; 2]| pair.map(|number| scale.transform(number));
        Self::from_columns(pairs.iter().map(on_scale))
    }

    /// The mean of the trimmed means of columns, with the standard error that follows from their
    /// rows, one per block. The columns are trimmed before they are averaged, because the mean of two
    /// skewed numbers is skewed less than either, and would make a variant differ from its equal.
    /// Rows with a number that is not finite are left out; `None` if none is left.
    fn from_columns<const N: usize>(rows: impl IntoIterator<Item = [f64; N]>) -> Option<Self> {
        let is_finite = |row: &[f64; N]| row.iter().all(|value| value.is_finite());
        let rows: Vec<[f64; N]> = rows.into_iter().filter(is_finite).collect();
        if rows.is_empty() {
            return None;
        }
        let trimming = Trimming::new(rows.len());
        let columns: [(f64, (f64, f64)); N] = std::array::from_fn(|column| {
            trimming.mean(&sorted(rows.iter().map(|row| row[column])))
        });
        // Sorted, so that the order of blocks does not change the last digit.
        let winsorised = sorted(rows.iter().map(|row| {
            let values = row.iter().zip(columns);
            let moved = values.map(|(value, (_, (low, high)))| value.clamp(low, high));
            mean(&moved.collect::<Vec<_>>())
        }));
        let error = standard_error(&winsorised, trimming.kept());
        Some(Self {
            estimate: mean(&columns.map(|(estimate, _)| estimate)),
            error,
            freedom: error.map_or(0, |_| trimming.freedom()),
        })
    }
}

/// Standard error of the trimmed mean, from the winsorised values and the number of kept ones.
fn standard_error(winsorised: &[f64], kept: f64) -> Option<f64> {
    let (first, rest) = winsorised.split_first()?;
    if rest.is_empty() {
        return None;
    }
    if rest.iter().all(|value| value.total_cmp(first).is_eq()) {
        return Some(0.0);
    }
    let mean = mean(winsorised);
    let squares: f64 = winsorised.iter().map(|value| square(value - mean)).sum();
    Some((squares / (kept * (kept - 1.0))).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(values: &[f64]) -> Estimated {
        Estimated::from_values(values, Scale::Difference).unwrap()
    }

    #[test]
    fn one_outlier_counts_in_full_among_7_blocks_in_part_among_8_and_not_among_10() {
        let mut values = vec![0.0; 7];
        values[6] = 9.0;
        assert!((wide(&values).estimate - 9.0 / 7.0).abs() < 1e-12);
        values.push(0.0);
        // Two thirds of it, over what is left of eight values.
        assert!((wide(&values).estimate - 6.0 / (8.0 - 2.0 / 3.0)).abs() < 1e-12);
        values.extend([0.0, 0.0]);
        assert!(wide(&values).estimate.abs() < 1e-12);
    }

    #[test]
    fn degrees_of_freedom_never_fall_where_trimming_begins() {
        let freedom = |count| Trimming::new(count).freedom();
        let found: Vec<u32> = (2..=17).map(freedom).collect();
        assert_eq!(found, [1, 2, 3, 4, 5, 6, 6, 6, 6, 7, 8, 9, 10, 11, 10, 11]);
    }
}
