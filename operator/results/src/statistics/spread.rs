//! What one variant does at one point: the median trial, and how precisely it is known. Medians,
//! because one slow trial must not shift a result and must not be trimmed either.

use serde::{Deserialize, Serialize};

use crate::statistics::{LEVEL, sorted};

/// A median over trials with its interval, in the unit of the values. The interval is one of 95 %
/// from six trials on; with fewer, it reaches from the smallest to the largest trial, at whatever
/// level that is. The extremes are not kept otherwise, because a summary has every trial.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// The value in the middle; the mean of the middle two if the number of values is even.
    pub median: f64,
    /// Lower end of the interval of the median.
    pub low: f64,
    /// Upper end of the interval of the median.
    pub high: f64,
}

impl Spread {
    /// The spread of `values`; `None` if there are none. Values that are not finite are left out.
    pub fn from_values(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sorted = sorted(values);
        let (low, high) = interval(&sorted)?;
        Some(Self {
            median: middle(&sorted)?,
            low,
            high,
        })
    }

    /// Applies `change` to every number.
    #[must_use]
    pub fn map(self, change: impl Fn(f64) -> f64) -> Self {
        Self {
            median: change(self.median),
            low: change(self.low),
            high: change(self.high),
        }
    }
}

/// The median of `values`; `None` if there are none. Values that are not finite are left out.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    middle(&sorted(values))
}

/// The median of `values` and of so many `larger` ones, of which only that is known; `None` if it
/// is one of the latter, or lies between one and another value.
pub fn median_with_larger(values: impl IntoIterator<Item = f64>, larger: usize) -> Option<f64> {
    let sorted = sorted(values);
    middle_of(&sorted, sorted.len() + larger)
}

/// The value in the middle of sorted ones.
pub(super) fn middle(sorted: &[f64]) -> Option<f64> {
    middle_of(sorted, sorted.len())
}

/// The middle of `count` values, of which the smallest are known.
fn middle_of(sorted: &[f64], count: usize) -> Option<f64> {
    let half = count / 2;
    let upper = *sorted.get(half)?;
    if count % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(half.checked_sub(1)?)?;
    Some(f64::midpoint(lower, upper))
}

/// The interval of the median between two trials counted from either end: how often the median lies
/// between them follows the binomial distribution of coin tosses, for any distribution of the
/// values. No pair of trials has exactly 95 %, so the ends lie between those of the next wider and
/// the next narrower pair, as in Hettmansperger and Sheather (1986). Fewer than six trials have no
/// pair that is wide enough: their outermost pair contains the median in all but one of 2^(n-1)
/// cases.
pub(super) fn interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let n = sorted.len();
    let missed = misses(n);
    // The number of values beyond each end of the widest pair that is still too narrow.
    let Some(outside) = missed.iter().position(|share| *share > LEVEL) else {
        return Some((*sorted.first()?, *sorted.last()?));
    };
    let Some(wider) = outside.checked_sub(1) else {
        return Some((*sorted.first()?, *sorted.last()?));
    };
    let (narrow, wide) = (missed[outside], missed[wider]);
    let gap = (LEVEL - wide) / (narrow - wide);
    let (rest, count) = ((n - outside) as f64, n as f64);
    let share = rest * gap / (outside as f64 + (count - 2.0 * outside as f64) * gap);
    let between = |outer: f64, inner: f64| {
        let end = (1.0 - share) * outer + share * inner;
        end.clamp(outer.min(inner), outer.max(inner))
    };
    Some((
        between(sorted[wider], sorted[outside]),
        between(sorted[n - 1 - wider], sorted[n - 1 - outside]),
    ))
}

/// How often the median lies outside a pair of `n` values that has 0, 1, 2, ... values beyond it at
/// each end: the chance that at most that many of `n` tossed coins show the same side.
pub(super) fn misses(n: usize) -> Vec<f64> {
    // As multiples of the chance of the likeliest number, so that nothing overflows.
    let mut chances = vec![1.0];
    for beyond in (1..=n / 2).rev() {
        let likelier = chances.last().copied().unwrap_or_default();
        chances.push(likelier * beyond as f64 / (n - beyond + 1) as f64);
    }
    let twice = 2.0 * chances.iter().sum::<f64>();
    let all = if n % 2 == 1 { twice } else { twice - 1.0 };
    let mut sum = 0.0;
    let cumulated = chances.iter().rev().map(|chance| {
        sum += chance;
        2.0 * sum / all
    });
    cumulated.take(n.div_ceil(2)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
        Spread::from_values(values).map(|spread| spread.median)
    }

    #[test]
    fn a_median_is_the_middle_value() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn values_known_only_to_be_larger_count_at_the_top_of_a_median() {
        assert_eq!(median_with_larger([3.0, 1.0, 2.0], 0), Some(2.0));
        assert_eq!(median_with_larger([3.0, 1.0, 2.0], 1), Some(2.5));
        assert_eq!(median_with_larger([3.0, 1.0, 2.0], 2), Some(3.0));
        assert_eq!(
            median_with_larger([3.0, 1.0, 2.0], 3),
            None,
            "half are larger"
        );
        assert_eq!(median_with_larger([], 1), None);
    }

    #[test]
    fn the_interval_of_five_trials_is_their_full_range() {
        let spread = Spread::from_values([1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((spread.low, spread.high), (1.0, 5.0));
    }

    #[test]
    fn the_interval_of_ten_trials_is_narrower_than_their_range() {
        let spread = Spread::from_values((1..=10).map(f64::from)).unwrap();
        assert!(1.0 < spread.low && spread.high < 10.0, "{spread:?}");
    }

    #[test]
    fn pairs_of_trials_miss_the_median_as_often_as_tossed_coins_predict() {
        for (n, expected) in [
            (1, vec![1.0]),
            (2, vec![0.5]),
            (3, vec![0.25, 1.0]),
            (5, vec![0.0625, 0.375, 1.0]),
            (6, vec![0.03125, 0.21875, 0.6875]),
        ] {
            let found = misses(n);
            assert_eq!(found.len(), expected.len(), "{n}: {found:?}");
            let pairs = found.iter().zip(expected);
            assert!(
                pairs
                    .into_iter()
                    .all(|(one, other)| (one - other).abs() < 1e-12),
                "{n}: {found:?}"
            );
        }
        let many = misses(5000);
        assert_eq!(many.len(), 2500);
        assert!(many.iter().all(|share| share.is_finite()));
    }

    /// Computed independently of this code, by the formula of the paper: for 6 values 0.357 of the
    /// way from the first to the second.
    #[test]
    fn from_six_trials_on_the_ends_lie_between_two_trials() {
        let spread = Spread::from_values((1..=6).map(f64::from)).unwrap();
        assert!((spread.low - 1.357_143).abs() < 1e-6, "{spread:?}");
        assert!((spread.high - 5.642_857).abs() < 1e-6, "{spread:?}");
    }

    proptest! {
        #[test]
        fn a_median_lies_in_its_interval_which_lies_between_the_extremes(
            values in prop::collection::vec(-1e9..1e9, 1..50)
        ) {
            let min = values.clone().into_iter().fold(f64::MAX, f64::min);
            let max = values.clone().into_iter().fold(f64::MIN, f64::max);
            let Spread { median, low, high } = Spread::from_values(values).unwrap();
            prop_assert!(min <= low && low <= median && median <= high && high <= max);
        }

        #[test]
        fn the_order_of_values_does_not_matter(
            (one, other) in prop::collection::vec(0.0..1e9, 1..20)
                .prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
        ) {
            prop_assert_eq!(Spread::from_values(one), Spread::from_values(other));
        }

        #[test]
        fn identical_values_have_no_spread(value in -1e9..1e9, count in 1_usize..50) {
            let spread = Spread::from_values(vec![value; count]).unwrap();
            let all = [spread.median, spread.low, spread.high];
            prop_assert!(all.iter().all(|number| number.total_cmp(&value).is_eq()));
        }

        #[test]
        fn hostile_numbers_give_no_nan(values in prop::collection::vec(prop::num::f64::ANY, 0..20)) {
            if let Some(spread) = Spread::from_values(values) {
                let all = [spread.median, spread.low, spread.high];
                prop_assert!(all.iter().all(|number| number.is_finite()));
            }
        }
    }
}
