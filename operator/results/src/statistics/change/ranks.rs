//! The test of Mann and Whitney (1947): in how many pairs of a run before and a run after is the
//! later one larger? The pairs of all strata are added (van Elteren, 1960). The p-value is exact,
//! because the distribution is counted: false alarms are equally frequent under any noise that does
//! not change.

use crate::statistics::change::group::Group;

/// The two-sided p-value. It is 1 if the number of pairs lies within [`NEAR`] of the expected one:
/// no level in use is that high, and counting takes time.
pub(super) fn p_value(groups: &[Group]) -> f64 {
    let pairs: usize = groups.iter().map(Group::pairs).sum();
    let rising: usize = groups.iter().map(rising).sum();
    let distance = (rising as f64 - pairs as f64) / 2.0;
    let variance: f64 = groups.iter().map(variance).sum();
    if distance * distance < NEAR * NEAR * variance {
        return 1.0;
    }
    let rarer = rising.min(2 * pairs - rising).div_ceil(2);
    let tail: f64 = distribution(groups)[..=rarer].iter().sum();
    (2.0 * tail).min(1.0)
}

/// Distance from the expected number of pairs, in standard deviations.
const NEAR: f64 = 2.0;

/// Twice the number of pairs whose later run is larger; a tie counts as half a pair.
fn rising(group: &Group) -> usize {
    let twice_smaller = |later: &f64| -> usize {
        let earlier = group.before.iter();
        earlier
            .map(|earlier| usize::from(earlier < later) + usize::from(earlier <= later))
            .sum()
    };
    group.after.iter().map(twice_smaller).sum()
}

/// The variance of the number of pairs if nothing has changed.
fn variance(group: &Group) -> f64 {
    let runs = group.before.len() + group.after.len();
    group.pairs() as f64 * (runs + 1) as f64 / 12.0
}

/// The chance of each number of pairs, from none to all, if nothing has changed.
pub(super) fn distribution(groups: &[Group]) -> Vec<f64> {
    let each = groups
        .iter()
        .map(|group| of_one(group.before.len(), group.after.len()));
    each.reduce(|one, other| together(&one, &other))
        .unwrap_or_default()
}

/// The distribution of one stratum: the coefficients of the Gaussian binomial, which is the product
/// of `(1 - q^(larger + i)) / (1 - q^i)` for every `i` up to `smaller`. It is symmetric, and its
/// lower half is free of cancellation.
fn of_one(before: usize, after: usize) -> Vec<f64> {
    let (smaller, larger) = (before.min(after), before.max(after));
    let pairs = before * after;
    let mut ways = vec![0.0; pairs / 2 + 1];
    ways[0] = 1.0;
    for i in 1..=smaller {
        for at in (larger + i..ways.len()).rev() {
            ways[at] -= ways[at - larger - i];
        }
        for at in i..ways.len() {
            ways[at] += ways[at - i];
        }
    }
    let both = || (0..=pairs).map(|at| ways[at.min(pairs - at)]);
    let all: f64 = both().sum();
    both().map(|ways| ways / all).collect()
}

/// The distribution of the sum of two.
fn together(one: &[f64], other: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; one.len() + other.len() - 1];
    for (at, chance) in one.iter().enumerate() {
        for (beyond, other) in other.iter().enumerate() {
            sum[at + beyond] += chance * other;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(before: &[f64], after: &[f64]) -> Group {
        Group {
            before: before.to_vec(),
            after: after.to_vec(),
            own_variance: 0.0,
        }
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-12 * expected,
            "{found} is not {expected}"
        );
    }

    /// Of the 56 orders of 5 and 3 runs one has all 15 pairs rising, and one has none.
    #[test]
    fn the_p_value_of_separate_parts_follows_from_the_number_of_orders() {
        let before = [1.0, 2.0, 3.0, 4.0, 5.0];
        close(p_value(&[group(&before, &[6.0, 7.0, 8.0])]), 2.0 / 56.0);
        close(p_value(&[group(&before, &[-6.0, -7.0, 0.0])]), 2.0 / 56.0);
        // In one of the 286 orders of 10 and 3 runs exactly one of the 30 pairs falls.
        let before: Vec<f64> = (1..=10).map(f64::from).collect();
        close(p_value(&[group(&before, &[9.5, 17.0, 18.0])]), 4.0 / 286.0);
    }

    /// There are 60-choose-30 orders, of which 1, 1, 2, 3, 5 and 7 have 0 to 5 pairs: the numbers
    /// of partitions of 0 to 5.
    #[test]
    fn rare_orders_of_many_runs_are_counted_exactly() {
        let orders = 118_264_581_564_861_424.0;
        let found = of_one(30, 30);
        for (at, ways) in [1.0, 1.0, 2.0, 3.0, 5.0, 7.0].into_iter().enumerate() {
            close(found[at], ways / orders);
            close(found[900 - at], ways / orders);
        }
    }

    #[test]
    fn runs_are_compared_within_strata_and_counted_together() {
        let one = group(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0]);
        let other = group(&[51.0, 52.0, 53.0], &[54.0, 55.0]);
        close(p_value(&[one, other]), 2.0 / (56.0 * 10.0));
    }

    #[test]
    fn equal_numbers_show_no_difference() {
        close(p_value(&[group(&[1.0; 20], &[1.0; 5])]), 1.0);
        close(
            p_value(&[group(&[1.0, 2.0, 3.0, 4.0, 5.0], &[3.0, 2.5, 3.5])]),
            1.0,
        );
    }
}
