//! Chooses fortio's histogram buckets. Pure.
//!
//! fortio's runner counts latencies in 56 buckets with fixed edges (`stats/stats.go`), all scaled by
//! a resolution X and shifted by an offset O. Only from O + 4X to O + 1000X is a bucket at most 25 % as wide as
//! the latencies in it; outside, a percentile is a guess within a factor of two. X and O are
//! therefore chosen from a calibration and checked against the timed window. With O at half the
//! median, the buckets around the median are half as wide. Latencies below O share one bucket, but
//! no reported percentile lies there. Among the suitable values of X, one is chosen that puts p50
//! and p99 into narrow buckets, because a percentile is interpolated within its bucket.

use std::time::Duration;

/// The good window begins this many X above O.
const GOOD_FROM: f64 = 4.0;
/// The good window ends this many X above O.
const GOOD_TO: f64 = 1000.0;
/// Edges up to the end of the good window, in X.
const EDGES: [u16; 44] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80,
    90, 100, 120, 140, 160, 180, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000,
];
/// The widest bucket that a percentile may be taken from, as a share of the percentile.
const WIDEST: f64 = 0.25;
/// O as a share of the median: first for the narrowest buckets, then for the most room for a long
/// tail.
const OFFSETS: [f64; 2] = [0.5, 0.0];
/// Share of the good window that may be used: rounding makes the resolution a little smaller.
const FULL: f64 = 0.9;
/// Steps tried on either side of the middle of the room, each a twelfth of an octave.
const STEPS: i32 = 12;
/// Expected ratios of a percentile in the timed window to that in the calibration.
const DRIFT: [f64; 3] = [0.93, 1.0, 1.07];
/// Limits of X in seconds: no response takes less than 0.4 us, and no median above 100 s is of
/// interest.
const LIMITS: (f64, f64) = (1e-7, 0.1);
/// O stays below this, in seconds: no request takes longer.
const LONGEST_MEDIAN: f64 = 100.0;

/// Where fortio's buckets are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buckets {
    /// Where the first bucket ends: O.
    pub offset: Duration,
    /// Unit of all edges above O, in seconds: X.
    pub resolution: f64,
}

/// What was observed of a latency distribution, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distribution {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
}

impl Buckets {
    /// Buckets for a calibration: right within a factor of two from 10 us to 1 s, which is enough
    /// to choose better ones.
    pub const CALIBRATION: Self = Self {
        offset: Duration::ZERO,
        resolution: 1e-5,
    };

    /// Chooses buckets that suit the distribution: p50 to p99.9 in the good window with equal room
    /// on both sides; only up to p99 if p99.9 does not fit; only from the median on if p99 does not
    /// fit either.
    pub fn choose(distribution: Distribution) -> Self {
        let tops = [distribution.p999, distribution.p99].into_iter();
        let both =
            tops.flat_map(|top| OFFSETS.map(|share| (top, offset(distribution.p50 * share))));
        let holds = |(top, offset): &(f64, Duration)| {
            let offset = offset.as_secs_f64();
            top - offset <= (distribution.p50 - offset) * (GOOD_TO / GOOD_FROM * FULL)
        };
        let (offset, resolution) = match both.into_iter().find(holds) {
            Some((top, offset)) => (offset, narrow(distribution, top, offset)),
            None => (Duration::ZERO, distribution.p50 / GOOD_FROM),
        };
        if !resolution.is_finite() {
            return Self::CALIBRATION;
        }
        Self {
            offset,
            resolution: three_digits(resolution).clamp(LIMITS.0, LIMITS.1),
        }
    }

    /// Returns the same edges without an offset, for another load whose latencies may be much
    /// shorter.
    pub fn without_offset(self) -> Self {
        Self {
            offset: Duration::ZERO,
            ..self
        }
    }

    /// Returns better buckets, if any: a window is not repeated if repeating cannot help.
    pub fn better(self, distribution: Distribution) -> Option<Self> {
        let other = Self::choose(distribution);
        (!self.fit(distribution) && other.fit(distribution)).then_some(other)
    }

    /// Whether p50 and p99 lie where the buckets are narrow.
    fn fit(self, distribution: Distribution) -> bool {
        let narrow = |at| self.relative_width(at) <= WIDEST * (1.0 + 1e-9);
        narrow(distribution.p50) && narrow(distribution.p99)
    }

    /// Width of the bucket that holds a latency, as a share of the latency; 1 below O and above the
    /// good window.
    fn relative_width(self, seconds: f64) -> f64 {
        let steps = (seconds - self.offset.as_secs_f64()) / self.resolution;
        EDGES
            .windows(2)
            .map(|pair| (f64::from(pair[0]), f64::from(pair[1])))
            .find(|(low, high)| *low < steps && steps <= *high)
            .map_or(1.0, |(low, high)| (high - low) * self.resolution / seconds)
    }
}

/// An offset in whole nanoseconds, as fortio takes it; zero if `seconds` is out of range.
fn offset(seconds: f64) -> Duration {
    if (0.0..LONGEST_MEDIAN).contains(&seconds) {
        Duration::from_secs_f64(seconds)
    } else {
        Duration::ZERO
    }
}

/// Returns the resolution with the narrowest buckets at p50 and p99. The candidates lie near the
/// middle of the room and keep a factor of two free below p50 and above `top`, both measured from
/// the offset. If no candidate has that much room, returns the middle itself.
fn narrow(distribution: Distribution, top: f64, offset: Duration) -> f64 {
    let behind = |seconds: f64| seconds - offset.as_secs_f64();
    let middle = (behind(distribution.p50) / GOOD_FROM * (behind(top) / GOOD_TO)).sqrt();
    let roomy = |x: &f64| {
        behind(distribution.p50) >= 2.0 * GOOD_FROM * x && behind(top) <= GOOD_TO * x / 2.0
    };
    let width = |resolution: f64| {
        let buckets = Buckets { offset, resolution };
        let widest = |at: f64| DRIFT.map(|drift| buckets.relative_width(at * drift));
        let largest = |widths: [f64; 3]| widths.into_iter().fold(0.0, f64::max);
        // The median counts double, because most results are medians.
        2.0 * largest(widest(distribution.p50)) + largest(widest(distribution.p99))
    };
    let mut steps: Vec<i32> = (-STEPS..=STEPS).collect();
    steps.sort_by_key(|step| step.abs());
    let around = steps
        .into_iter()
        .map(|step| middle * (f64::from(step) / f64::from(STEPS)).exp2());
    // Of equals, the first is nearest to the middle.
    around
        .filter(roomy)
        .min_by(|a, b| width(*a).total_cmp(&width(*b)))
        .unwrap_or(middle)
}

/// Rounds down to three significant digits, because people read it, too.
fn three_digits(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    // Via text, because only then is 0.000012 the nearest number to 1.2e-5.
    let exponent = value.log10().floor() - 2.0;
    let digits = (value / 10f64.powf(exponent) + 1e-9).floor();
    format!("{digits}e{exponent}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FORTIO: Buckets = Buckets {
        offset: Duration::ZERO,
        resolution: 1e-3,
    };

    fn distribution(p50: f64, p99: f64, p999: f64) -> Distribution {
        Distribution { p50, p99, p999 }
    }

    #[test]
    fn a_warm_loopback_service_gets_a_resolution_of_microseconds() {
        let buckets = Buckets::choose(distribution(73e-6, 150e-6, 400e-6));
        assert!((1e-6..=1e-5).contains(&buckets.resolution), "{buckets:?}");
        assert_eq!(buckets.offset, Duration::from_nanos(36_500));
    }

    #[test]
    fn the_median_is_put_into_a_narrower_bucket_than_p99() {
        for p50 in [19e-6, 73e-6, 127e-6, 379e-6, 0.004, 0.021] {
            let distribution = distribution(p50, p50 * 2.1, p50 * 5.0);
            let buckets = Buckets::choose(distribution);
            let widths = [distribution.p50, distribution.p99].map(|at| buckets.relative_width(at));
            assert!(
                widths[0] <= 0.075 && widths[1] <= 0.14,
                "{buckets:?}: {widths:?}"
            );
        }
    }

    #[test]
    fn a_far_outlier_is_left_out_rather_than_the_median() {
        let distribution = distribution(70e-6, 300e-6, 0.5);
        assert!(Buckets::choose(distribution).fit(distribution));
    }

    #[test]
    fn a_distribution_wider_than_the_window_keeps_its_median() {
        let distribution = distribution(70e-6, 0.1, 0.2);
        let buckets = Buckets::choose(distribution);
        assert!(
            buckets.relative_width(distribution.p50) <= WIDEST,
            "{buckets:?}"
        );
        assert_eq!(
            FORTIO.better(distribution),
            None,
            "repeating would not help"
        );
    }

    #[test]
    fn the_default_of_fortio_does_not_fit_a_fast_service() {
        let distribution = distribution(73e-6, 150e-6, 400e-6);
        assert!(!FORTIO.fit(distribution));
        assert!(FORTIO.better(distribution).is_some());
        assert_eq!(Buckets::choose(distribution).better(distribution), None);
    }

    #[test]
    fn a_median_in_the_first_bucket_is_measured_again_with_others() {
        let slow = distribution(200e-6, 400e-6, 800e-6);
        let fast = distribution(90e-6, 300e-6, 800e-6);
        let better = Buckets::choose(slow).better(fast).unwrap();
        assert_eq!(better, Buckets::choose(fast));
        assert!(Buckets::choose(slow).without_offset().fit(fast));
    }

    #[test]
    fn three_digits_are_exact() {
        for (value, expected) in [
            (0.000_012_99, 1.29e-5),
            (5e-6, 5e-6),
            (0.001, 0.001),
            (0.0, 0.0),
        ] {
            assert!(
                (three_digits(value) - expected).abs() <= f64::EPSILON * expected,
                "{value}"
            );
        }
    }

    proptest! {
        #[test]
        fn whatever_can_fit_does(p50 in 1e-5f64..0.4, ratio in 1.0f64..230.0, tail in 1.0f64..1e4) {
            let distribution = distribution(p50, p50 * ratio, p50 * ratio * tail);
            prop_assert!(Buckets::choose(distribution).fit(distribution));
        }

        #[test]
        fn the_tail_lies_in_the_window_too_where_it_can(
            p50 in 1e-5f64..0.4, ratio in 1.0f64..10.0, tail in 1.0f64..20.0,
        ) {
            let distribution = distribution(p50, p50 * ratio, p50 * ratio * tail);
            let buckets = Buckets::choose(distribution);
            let end = buckets.offset.as_secs_f64() + GOOD_TO * buckets.resolution;
            prop_assert!(distribution.p999 <= end * 1.0001);
        }

        #[test]
        fn an_estimate_wrong_by_half_still_fits(
            p50 in 2e-5f64..5.0, ratio in 1.0f64..8.0, low in 0.5f64..1.6, high in 0.5f64..2.0,
        ) {
            let real = distribution(p50, p50 * ratio, p50 * ratio);
            let p50 = real.p50 * low;
            let top = (real.p99 * high).max(p50);
            let guessed = Distribution { p50, p99: top, p999: top };
            prop_assert!(Buckets::choose(guessed).fit(real));
        }

        #[test]
        fn any_numbers_give_an_allowed_resolution(p50: f64, p99: f64, p999: f64) {
            let resolution = Buckets::choose(distribution(p50, p99, p999)).resolution;
            prop_assert!((LIMITS.0..=LIMITS.1).contains(&resolution), "{}", resolution);
        }
    }
}
