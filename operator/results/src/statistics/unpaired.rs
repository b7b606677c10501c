//! Two samples that share no blocks, such as those of two runs: the interval of Yuen (1974). Both
//! samples are trimmed on their scale as [`crate::statistics::ratio`] trims blocks, their squared
//! standard errors are added, and the degrees of freedom are those of Welch and Satterthwaite. How
//! far runs shift from one to the next, which their trials cannot show, is stated: its variance is
//! added as one that is known.

use crate::statistics::{Contrast, Estimated, square};

impl Contrast {
    /// `value` compared with `base`, each from the trials of a run. `scatter` is the standard
    /// deviation by which each of the two runs shifts as a whole, on their scale. A side with a
    /// single trial shows no spread and decides nothing.
    pub fn unpaired(value: &Estimated, base: &Estimated, scatter: [f64; 2]) -> Self {
        let estimate = value.estimate - base.estimate;
        let known: f64 = scatter.into_iter().map(square).sum();
        let (error, freedom) = together(value, base, known).unzip();
        Self::new(estimate, error, freedom.unwrap_or_default())
    }
}

/// The most degrees of freedom. With these, the 95 % interval is 0.3 % wider than the normal one.
const MOST_FREEDOM: f64 = 500.0;

/// Standard error of the difference and its integer degrees of freedom: rounded down, which widens
/// the interval by less than a hundredth where it matters. `known` is the variance that is not
/// estimated from the samples.
pub(super) fn together(one: &Estimated, other: &Estimated, known: f64) -> Option<(f64, u32)> {
    let (one_square, other_square) = (square(one.error?), square(other.error?));
    let sum = one_square + other_square + known;
    let share = |part: f64| if sum > 0.0 { part / sum } else { 0.0 };
    let freedom = 1.0
        / (square(share(one_square)) / f64::from(one.freedom.max(1))
            + square(share(other_square)) / f64::from(other.freedom.max(1)));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at least the smaller of the two degrees of freedom, and at most MOST_FREEDOM"
    )]
    let whole = (freedom + 1e-9).min(MOST_FREEDOM) as u32;
    Some((sum.sqrt(), whole.max(1)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::statistics::{Interval, LEVEL, Scale};

    /// Two runs with these trials, each of which shifts as a whole by `scatter`.
    fn shifted(value: &[f64], base: &[f64], scale: Scale, scatter: f64) -> Option<Contrast> {
        let [value, base] = [value, base].map(|trials| Estimated::from_values(trials, scale));
        Some(Contrast::unpaired(&value?, &base?, [scatter; 2]))
    }

    /// Two runs whose trials are all that differs.
    fn unpaired(value: &[f64], base: &[f64]) -> Option<Interval> {
        let found = shifted(value, base, Scale::Ratio, 0.0);
        found.map(|found| found.interval)
    }

    fn sample() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(1e-3..1e3, 2..25)
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-9 * one.abs().max(1.0)
    }

    /// Computed independently of this code: the logarithms of 1.3, 0.9, 1.1, 1.0, 1.2 have the mean
    /// 0.086927 and the variance 0.021120, those of 2, 2.1, 1.9 have 0.692311 and 0.002506; 5.27
    /// degrees of freedom.
    #[test]
    fn the_interval_below_eight_trials_is_welchs() {
        let found = unpaired(&[2.0, 2.1, 1.9], &[1.3, 0.9, 1.1, 1.0, 1.2]).unwrap();
        assert!(
            (found.estimate - (0.692_311 - 0.086_927)).abs() < 1e-5,
            "{found:?}"
        );
        let half = 2.570_582 * (0.021_120_f64 / 5.0 + 0.002_506 / 3.0).sqrt();
        assert!(
            (found.half_width.unwrap() - half).abs() < 1e-4,
            "{found:?} {half}"
        );
    }

    /// As above: variances of 0.021120 / 5 and 0.002506 / 3, and twice 0.05 squared without an
    /// error of its own. Of 0.010059 the samples contribute 0.41991 and 0.08304 with 4 and 2
    /// degrees of freedom: 21.03 together.
    #[test]
    fn a_stated_scatter_adds_its_variance_and_no_uncertainty() {
        let (value, base) = ([2.0, 2.1, 1.9], [1.3, 0.9, 1.1, 1.0, 1.2]);
        let stated = shifted(&value, &base, Scale::Ratio, 0.05).unwrap();
        let half = 2.079_614 * (0.021_120_f64 / 5.0 + 0.002_506 / 3.0 + 0.005).sqrt();
        let found = stated.interval.half_width.unwrap();
        assert!((found - half).abs() < 1e-4, "{found} {half}");
        // Equal trials leave the scatter alone, with as many degrees of freedom as there are.
        let equal = shifted(&[1.0; 5], &[1.0; 5], Scale::Ratio, 0.05).unwrap();
        let half = equal.interval.half_width.unwrap();
        assert!((half - 1.965 * 0.005_f64.sqrt()).abs() < 1e-4, "{half}");
    }

    #[test]
    fn differences_are_compared_in_their_unit() {
        let (value, base) = ([120.0, 122.0, 118.0], [100.0, 101.0, 99.0]);
        let found = shifted(&value, &base, Scale::Difference, 0.0).unwrap();
        assert!((found.interval.estimate - 20.0).abs() < 1e-9, "{found:?}");
        let below_zero = shifted(&[-5.0, -4.0], &base, Scale::Difference, 0.0);
        assert!(below_zero.is_some_and(|found| found.interval.estimate < -100.0));
    }

    /// With a known standard deviation of 0.05 in each run, the normal quantiles are 1.965 and 0.842.
    #[test]
    fn the_smallest_difference_found_lies_beyond_the_interval_by_what_one_in_five_misses() {
        let found = shifted(&[1.0; 5], &[1.0; 5], Scale::Ratio, 0.05).unwrap();
        let error = 0.005_f64.sqrt();
        let one = found.smallest_found(1, 0.0).unwrap();
        assert!((one - 2.807 * error).abs() < 2e-3 * error, "{one}");
        let among = found.smallest_found(12, 0.0).unwrap();
        assert!(among > 1.25 * one, "{among} {one}");
        // A gate asks for an estimate that matters.
        let matters = found.smallest_found(1, 0.5).unwrap();
        assert!((matters - 0.5 - 0.842 * error).abs() < 2e-3, "{matters}");
    }

    #[test]
    fn one_outlier_among_ten_trials_does_not_move_the_estimate() {
        let base = [1.0, 1.02, 0.98];
        let with = |last| [0.8, 0.85, 0.9, 0.95, 1.0, 1.0, 1.02, 1.05, 1.1, last];
        assert_eq!(unpaired(&with(1.12), &base), unpaired(&with(40.0), &base));
    }

    #[test]
    fn a_single_trial_on_one_side_decides_nothing() {
        let found = unpaired(&[2.0], &[1.0, 1.1, 1.2]).unwrap();
        assert_eq!((found.half_width, found.p_value), (None, 1.0));
        assert_eq!(unpaired(&[], &[1.0]), None);
        assert_eq!(unpaired(&[1.0], &[0.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn exchanging_the_sides_mirrors_the_interval(one in sample(), other in sample()) {
            let there = unpaired(&one, &other).unwrap();
            let back = unpaired(&other, &one).unwrap();
            prop_assert!(close(there.estimate, -back.estimate));
            prop_assert!(close(there.half_width.unwrap(), back.half_width.unwrap()));
            prop_assert!((there.p_value - back.p_value).abs() < 1e-9);
        }

        #[test]
        fn interval_and_p_value_agree(one in sample(), other in sample()) {
            let found = unpaired(&one, &other).unwrap();
            let half = found.half_width.unwrap();
            // The very edge is left to rounding.
            if (found.estimate.abs() - half).abs() > 1e-9 {
                prop_assert_eq!(found.estimate.abs() > half, found.p_value < LEVEL);
            }
        }

        #[test]
        fn hostile_numbers_give_no_nan(
            one in prop::collection::vec(prop::num::f64::ANY, 0..20),
            other in prop::collection::vec(prop::num::f64::ANY, 0..20)
        ) {
            if let Some(found) = unpaired(&one, &other) {
                prop_assert!(found.estimate.is_finite());
                prop_assert!(found.half_width.is_none_or(f64::is_finite));
                prop_assert!((0.0..=1.0).contains(&found.p_value));
            }
        }
    }
}
