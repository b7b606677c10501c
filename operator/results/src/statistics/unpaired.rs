//! The ratio of two samples that share no blocks, such as those of two runs: the interval of Yuen
//! (1974). Both samples are trimmed on the log scale as [`crate::statistics::ratio`] trims blocks,
//! their squared standard errors are added, and the degrees of freedom are those of Welch and
//! Satterthwaite.

use crate::statistics::trimmed::Sample;
use crate::statistics::{Interval, square};

impl Interval {
    /// The interval of `value` as a multiple of `base`, one number per trial. Numbers that are not
    /// positive and finite are left out; `None` if none is left on one side. A side with a single
    /// number shows no spread and decides nothing.
    pub fn unpaired(value: &[f64], base: &[f64]) -> Option<Self> {
        let (value, base) = (Sample::from_ratios(value)?, Sample::from_ratios(base)?);
        let estimate = value.estimate - base.estimate;
        let (error, freedom) = together(&value, &base).unzip();
        Some(Self::with_error(
            estimate,
            error,
            freedom.unwrap_or_default(),
        ))
    }
}

/// Standard error of the difference and its integer degrees of freedom: rounded down, which widens
/// the interval by less than a hundredth where it matters.
pub(super) fn together(one: &Sample, other: &Sample) -> Option<(f64, u32)> {
    let (one_square, other_square) = (square(one.error?), square(other.error?));
    let sum = one_square + other_square;
    if sum <= 0.0 {
        return Some((0.0, one.freedom + other.freedom));
    }
    let (one_share, other_share) = (one_square / sum, other_square / sum);
    let freedom = 1.0
        / (square(one_share) / f64::from(one.freedom.max(1))
            + square(other_share) / f64::from(other.freedom.max(1)));
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between the smaller of the two degrees of freedom and their sum"
    )]
    let whole = (freedom + 1e-9) as u32;
    Some((sum.sqrt(), whole.max(1)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::statistics::LEVEL;

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
        let found = Interval::unpaired(&[2.0, 2.1, 1.9], &[1.3, 0.9, 1.1, 1.0, 1.2]).unwrap();
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

    #[test]
    fn one_outlier_among_eight_trials_does_not_move_the_estimate() {
        let base = [1.0, 1.02, 0.98];
        let calm = [0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.12];
        let wild = [0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 40.0];
        assert_eq!(
            Interval::unpaired(&calm, &base),
            Interval::unpaired(&wild, &base)
        );
    }

    #[test]
    fn a_single_trial_on_one_side_decides_nothing() {
        let found = Interval::unpaired(&[2.0], &[1.0, 1.1, 1.2]).unwrap();
        assert_eq!((found.half_width, found.p_value), (None, 1.0));
        assert_eq!(Interval::unpaired(&[], &[1.0]), None);
        assert_eq!(Interval::unpaired(&[1.0], &[0.0, f64::NAN]), None);
    }

    proptest! {
        #[test]
        fn exchanging_the_sides_mirrors_the_interval(one in sample(), other in sample()) {
            let there = Interval::unpaired(&one, &other).unwrap();
            let back = Interval::unpaired(&other, &one).unwrap();
            prop_assert!(close(there.estimate, -back.estimate));
            prop_assert!(close(there.half_width.unwrap(), back.half_width.unwrap()));
            prop_assert!((there.p_value - back.p_value).abs() < 1e-9);
        }

        #[test]
        fn interval_and_p_value_agree(one in sample(), other in sample()) {
            let found = Interval::unpaired(&one, &other).unwrap();
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
            if let Some(found) = Interval::unpaired(&one, &other) {
                prop_assert!(found.estimate.is_finite());
                prop_assert!(found.half_width.is_none_or(f64::is_finite));
                prop_assert!((0.0..=1.0).contains(&found.p_value));
            }
        }
    }
}
