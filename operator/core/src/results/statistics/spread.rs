//! What one variant does at one point: the median trial, how well it is known, and the extremes.
//! Medians, because one slow trial must not move a result and must not be trimmed either.

use serde::{Deserialize, Serialize};

use super::{LEVEL, sorted};

/// A median over trials with its 95 % bootstrap interval, in the unit of the values. The smallest and
/// the largest trial are not kept beside it: a summary has every trial.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// The value in the middle; the mean of the middle two when their number is even.
    pub median: f64,
    /// Lower end of the interval of the median.
    pub low: f64,
    /// Upper end of the interval of the median.
    pub high: f64,
}

impl Spread {
    /// The spread of `values`; `None` when there are none. Values that are no numbers are left out.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let sorted = sorted(values);
        let (low, high) = interval(&sorted)?;
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

/// The median of `values`; `None` when there are none. Values that are no numbers are left out.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    middle(&sorted(values))
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

/// The interval that the bootstrap gives for the median: trials are drawn with replacement, as many
/// as there are, and the interval holds the middle 95 % of the medians of such draws. How often
/// each median comes up is computed and not drawn, which is what infinitely many draws would give,
/// without a seed.
fn interval(sorted: &[f64]) -> Option<(f64, f64)> {
    let mut medians = medians_of_draws(sorted);
    medians.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let at = |share: f64| {
        let mut sum = 0.0;
        let reached = medians.iter().find(|(_, chance)| {
            sum += chance;
            sum >= share
        });
        reached.or(medians.last()).map(|(median, _)| *median)
    };
    Some((at(LEVEL / 2.0)?, at(1.0 - LEVEL / 2.0)?))
}

/// Every median that a draw can have, with its chance.
fn medians_of_draws(sorted: &[f64]) -> Vec<(f64, f64)> {
    let (n, half) = (sorted.len(), sorted.len() / 2);
    // Chance that at least `at_least` of the `n` drawn values are among the `smallest` ones.
    let among = |smallest: usize, at_least: usize| binomial_tail(n, smallest, at_least);
    if n % 2 == 1 {
        let chance = |i: usize| among(i + 1, half + 1) - among(i, half + 1);
        return (0..n).map(|i| (sorted[i], chance(i))).collect();
    }
    // The two in the middle of a draw are values i <= j.
    let share = |count: usize| power(count as f64 / n as f64, half);
    let ways = choose(n, half);
    let mut medians = vec![];
    for i in 0..n {
        let lower_is_i = among(i + 1, half) - among(i, half);
        let mut upper_is_above = 0.0;
        for j in i + 1..n {
            let both = ways * (share(i + 1) - share(i)) * (share(n - j) - share(n - j - 1));
            upper_is_above += both;
            medians.push((f64::midpoint(sorted[i], sorted[j]), both));
        }
        medians.push((sorted[i], lower_is_i - upper_is_above));
    }
    medians
}

fn binomial_tail(n: usize, smallest: usize, at_least: usize) -> f64 {
    let share = smallest as f64 / n as f64;
    let term = |k| choose(n, k) * power(share, k) * power(1.0 - share, n - k);
    (at_least..=n).map(term).sum()
}

fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// By multiplication: the same bits on every platform.
fn power(base: f64, exponent: usize) -> f64 {
    (0..exponent).map(|_| base).product()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
        Spread::of(values).map(|spread| spread.median)
    }

    #[test]
    fn a_median_is_the_middle_value() {
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median([]), None);
    }

    #[test]
    fn the_interval_of_five_trials_is_their_whole_range() {
        let spread = Spread::of([1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert_eq!((spread.low, spread.high), (1.0, 5.0));
    }

    #[test]
    fn ten_trials_know_their_median_better_than_their_range() {
        let spread = Spread::of((1..=10).map(f64::from)).unwrap();
        assert!(1.0 < spread.low && spread.high < 10.0, "{spread:?}");
    }

    /// All draws of three and four values, counted.
    #[test]
    fn the_chances_are_those_of_all_possible_draws() {
        for n in [3_usize, 4] {
            let values: Vec<f64> = (0..n).map(|i| (i * i) as f64).collect();
            let draws = n.pow(u32::try_from(n).unwrap());
            let mut counted = std::collections::BTreeMap::<u64, f64>::new();
            for draw in 0..draws {
                let digits = (0..n).map(|k| draw / n.pow(u32::try_from(k).unwrap()) % n);
                let median = median(digits.map(|digit| values[digit])).unwrap();
                *counted.entry(median.to_bits()).or_default() += 1.0 / draws as f64;
            }
            let mut computed = std::collections::BTreeMap::<u64, f64>::new();
            for (median, chance) in medians_of_draws(&values) {
                *computed.entry(median.to_bits()).or_default() += chance;
            }
            assert_eq!(counted.len(), computed.len());
            for (median, chance) in counted {
                assert!((computed[&median] - chance).abs() < 1e-12);
            }
        }
    }

    proptest! {
        #[test]
        fn a_median_lies_in_its_interval_and_the_interval_between_the_extremes(
            values in prop::collection::vec(-1e9..1e9, 1..50)
        ) {
            let min = values.clone().into_iter().fold(f64::MAX, f64::min);
            let max = values.clone().into_iter().fold(f64::MIN, f64::max);
            let Spread { median, low, high } = Spread::of(values).unwrap();
            prop_assert!(min <= low && low <= median && median <= high && high <= max);
        }

        #[test]
        fn the_order_of_values_does_not_matter(
            (one, other) in prop::collection::vec(0.0..1e9, 1..20)
                .prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle()))
        ) {
            prop_assert_eq!(Spread::of(one), Spread::of(other));
        }

        #[test]
        fn identical_values_have_no_spread(value in -1e9..1e9, count in 1_usize..50) {
            let spread = Spread::of(vec![value; count]).unwrap();
            let all = [spread.median, spread.low, spread.high];
            prop_assert!(all.iter().all(|number| number.total_cmp(&value).is_eq()));
        }

        #[test]
        fn hostile_numbers_give_no_nan(values in prop::collection::vec(prop::num::f64::ANY, 0..20)) {
            if let Some(spread) = Spread::of(values) {
                let all = [spread.median, spread.low, spread.high];
                prop_assert!(all.iter().all(|number| number.is_finite()));
            }
        }
    }
}
