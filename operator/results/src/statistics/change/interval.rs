//! How large a change is: the median of all differences between a run after it and a run before
//! (Hodges and Lehmann, 1963), and the interval that belongs to the test by ranks: all sizes that,
//! when subtracted, leave data in which this test finds no change at 5 %.

use crate::statistics::LEVEL;
use crate::statistics::change::group::Group;
use crate::statistics::change::ranks;

/// 95 % of a normal distribution lies within this many standard deviations of its mean.
const WITHIN: f64 = 1.96;

/// The size of the change, and the ends of its interval. With very few pairs the
/// ends are the outermost differences.
pub(super) fn estimate(groups: &[Group]) -> (f64, (f64, f64)) {
    let differences = differences(groups);
    let count = differences.len();
    let size = f64::midpoint(differences[(count - 1) / 2], differences[count / 2]);
    let outside = outside(groups).clamp(1, count.div_ceil(2));
    let (low, high) = (differences[outside - 1], differences[count - outside]);
    // Runs that agree by chance must not seem more precise than their own errors allow.
    let own = WITHIN * own_error(groups);
    (size, (low.min(size - own), high.max(size + own)))
}

/// Every run after minus every run before, within each stratum, in ascending order.
fn differences(groups: &[Group]) -> Vec<f64> {
    let within = |group: &Group| -> Vec<f64> {
        let later = group.after.iter();
        later
            .flat_map(|later| group.before.iter().map(move |earlier| later - earlier))
            .collect()
    };
    let mut differences: Vec<f64> = groups.iter().flat_map(within).collect();
    differences.sort_by(f64::total_cmp);
    differences
}

/// The rank, counted from either end, of the difference that forms the end of the interval.
fn outside(groups: &[Group]) -> usize {
    let mut sum = 0.0;
    let tail = ranks::distribution(groups);
    let rare = tail.iter().take_while(|chance| {
        sum += **chance;
        sum <= LEVEL / 2.0
    });
    rare.count()
}

/// The standard error of the size, by the runs' own errors.
fn own_error(groups: &[Group]) -> f64 {
    let weight: f64 = groups.iter().map(Group::weight).sum();
    let weighted = groups
        .iter()
        .map(|group| group.weight().powi(2) * group.own_variance);
    weighted.sum::<f64>().sqrt() / weight
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With 5 and 3 runs only the outermost orders are rarer than 2.5 %: the interval reaches from
    /// the smallest difference to the largest.
    fn few(own_variance: f64) -> Group {
        Group {
            before: vec![-0.02, -0.01, 0.0, 0.01, 0.02],
            after: vec![0.09, 0.1, 0.11],
            own_variance,
        }
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn the_size_is_the_median_difference() {
        let (size, (low, high)) = estimate(&[few(0.0)]);
        close(size, 0.1);
        close(low, 0.07);
        close(high, 0.13);
    }

    /// Of 10 and 5 runs, 8 pairs of 50 or fewer occur in 20 of 1000 orders: the printed tables have
    /// 8 as the critical value.
    #[test]
    fn the_interval_uses_the_critical_value_of_the_printed_tables() {
        let group = Group {
            before: vec![0.0; 10],
            after: vec![0.0; 5],
            own_variance: 0.0,
        };
        assert_eq!(outside(&[group]), 9);
    }

    #[test]
    fn an_interval_is_no_narrower_than_the_errors_of_the_runs() {
        let (size, (low, high)) = estimate(&[few(0.04 * 0.04)]);
        close(size, 0.1);
        close(low, 0.1 - 1.96 * 0.04);
        close(high, 0.1 + 1.96 * 0.04);
    }
}
