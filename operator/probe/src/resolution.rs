//! Which histogram resolution fortio is given. Pure.
//!
//! fortio counts latencies in 56 fixed buckets, all scaled by `-r X`. They are at most 25 % wide
//! only from 4X to 1000X (edges 4, 5, 6 ... 900, 1000, 2000 in `stats/stats.go`); outside, a
//! percentile is a guess within a factor of two. So X is chosen after what a calibration saw, and
//! checked again against what the timed window saw. Among the X that suit, one is taken that puts
//! p50 and p99 into buckets of some 10 %, because a percentile is interpolated inside its bucket.

/// The good window begins at this many X.
const GOOD_FROM: f64 = 4.0;
/// The good window ends at this many X.
const GOOD_TO: f64 = 1000.0;
/// Edges within the good window, in X.
const EDGES: [u16; 40] = [
    4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90, 100, 120,
    140, 160, 180, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800, 900, 1000,
];
/// Steps to either side of the middle of the room that are tried, a twelfth of an octave each.
const STEPS: i32 = 12;
/// How far a percentile of the timed window is expected to be from that of the calibration.
const DRIFT: [f64; 3] = [0.93, 1.0, 1.07];
/// Nothing is answered in less than 0.4 us, nor is a median above 100 s of interest.
const LIMITS: (f64, f64) = (1e-7, 0.1);

/// The resolution of a calibration: right within a factor of two from 10 us to 1 s, which is
/// enough to choose a better one.
pub const CALIBRATION: f64 = 1e-5;

/// What was seen of a latency distribution, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Median.
    pub p50: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
}

/// The resolution that suits what was seen: p50 to p99.9 in the good window with the same room on
/// both sides; without p99.9 where that is too much; and the median first where even p99 is.
pub fn choose(seen: Seen) -> f64 {
    let width = GOOD_TO / GOOD_FROM;
    let top = [seen.p999, seen.p99]
        .into_iter()
        .find(|top| *top <= seen.p50 * width);
    let low = seen.p50 / GOOD_FROM;
    let resolution = match top {
        Some(top) => narrow(seen, top, (low * (top / GOOD_TO)).sqrt()),
        None => low,
    };
    if resolution.is_finite() {
        three_digits(resolution).clamp(LIMITS.0, LIMITS.1)
    } else {
        CALIBRATION
    }
}

/// The resolution near `middle` that has p50 and p99 in the narrowest buckets, and keeps twofold
/// room from p50 to `top`, all in seconds; `middle` itself where none has that much room.
fn narrow(seen: Seen, top: f64, middle: f64) -> f64 {
    let roomy = |x: &f64| seen.p50 >= 2.0 * GOOD_FROM * x && top <= GOOD_TO * x / 2.0;
    let width = |x: f64| {
        let widest = |at: f64| DRIFT.map(|drift| relative_width(at * drift / x));
        let largest = |widths: [f64; 3]| widths.into_iter().fold(0.0, f64::max);
        largest(widest(seen.p50)) + largest(widest(seen.p99))
    };
    let mut steps: Vec<i32> = (-STEPS..=STEPS).collect();
    steps.sort_by_key(|step| step.abs());
    let around = steps
        .into_iter()
        .map(|step| middle * (f64::from(step) / f64::from(STEPS)).exp2());
    // The first of equals is the nearest to the middle.
    around
        .filter(roomy)
        .min_by(|a, b| width(*a).total_cmp(&width(*b)))
        .unwrap_or(middle)
}

/// Width of the bucket of `value`, in X, as a share of its lower edge; 1 outside the good window.
fn relative_width(value: f64) -> f64 {
    EDGES
        .windows(2)
        .map(|pair| (f64::from(pair[0]), f64::from(pair[1])))
        .find(|(low, high)| *low < value && value <= *high)
        .map_or(1.0, |(low, high)| (high - low) / low)
}

/// Whether p50 and p99 lie where the buckets are narrow.
pub fn fits(resolution: f64, seen: Seen) -> bool {
    seen.p50 >= GOOD_FROM * resolution && seen.p99 <= GOOD_TO * resolution
}

/// A better resolution, when there is one: a window is not repeated where repeating cannot help.
pub fn better(resolution: f64, seen: Seen) -> Option<f64> {
    let other = choose(seen);
    (!fits(resolution, seen) && fits(other, seen)).then_some(other)
}

/// Rounded down to three significant digits: it is read by people, too.
fn three_digits(value: f64) -> f64 {
    if value <= 0.0 {
        return 0.0;
    }
    // Through text, because only then is 0.000012 the nearest number to 1.2e-5.
    let exponent = value.log10().floor() - 2.0;
    let digits = (value / 10f64.powf(exponent) + 1e-9).floor();
    format!("{digits}e{exponent}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seen(p50: f64, p99: f64, p999: f64) -> Seen {
        Seen { p50, p99, p999 }
    }

    #[test]
    fn a_warm_loopback_service_gets_a_resolution_of_microseconds() {
        let resolution = choose(seen(73e-6, 150e-6, 400e-6));
        assert!((1e-6..=1e-5).contains(&resolution), "{resolution}");
    }

    #[test]
    fn the_median_is_put_into_a_bucket_of_some_ten_percent() {
        for p50 in [19e-6, 73e-6, 127e-6, 379e-6, 0.004, 0.021] {
            let resolution = choose(seen(p50, p50 * 2.1, p50 * 5.0));
            let width = relative_width(p50 / resolution);
            assert!(width <= 0.15, "{p50}: {resolution}, {width}");
        }
    }

    #[test]
    fn a_far_outlier_is_left_out_rather_than_the_median() {
        let seen = seen(70e-6, 300e-6, 0.5);
        assert!(fits(choose(seen), seen));
    }

    #[test]
    fn a_distribution_wider_than_the_window_keeps_its_median() {
        let seen = seen(70e-6, 0.1, 0.2);
        let resolution = choose(seen);
        assert!(seen.p50 >= 4.0 * resolution && seen.p50 <= 1000.0 * resolution);
        assert_eq!(better(1e-3, seen), None, "repeating would not help");
    }

    #[test]
    fn the_default_of_fortio_does_not_fit_a_fast_service() {
        let seen = seen(73e-6, 150e-6, 400e-6);
        assert!(!fits(1e-3, seen));
        assert!(better(1e-3, seen).is_some());
        assert_eq!(better(choose(seen), seen), None);
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
            let seen = seen(p50, p50 * ratio, p50 * ratio * tail);
            prop_assert!(fits(choose(seen), seen));
        }

        #[test]
        fn the_tail_lies_in_the_window_too_where_it_can(
            p50 in 1e-5f64..0.4, ratio in 1.0f64..10.0, tail in 1.0f64..20.0,
        ) {
            let seen = seen(p50, p50 * ratio, p50 * ratio * tail);
            prop_assert!(seen.p999 <= GOOD_TO * choose(seen) * 1.0001);
        }

        #[test]
        fn an_estimate_wrong_by_half_still_fits(
            p50 in 2e-5f64..5.0, ratio in 1.0f64..8.0, low in 0.5f64..2.0, high in 0.5f64..2.0,
        ) {
            let real = seen(p50, p50 * ratio, p50 * ratio);
            let p50 = real.p50 * low;
            let guessed = Seen { p50, p99: (real.p99 * high).max(p50), p999: (real.p99 * high).max(p50) };
            prop_assert!(fits(choose(guessed), real));
        }

        #[test]
        fn any_numbers_give_an_allowed_resolution(p50: f64, p99: f64, p999: f64) {
            let resolution = choose(seen(p50, p99, p999));
            prop_assert!((LIMITS.0..=LIMITS.1).contains(&resolution), "{}", resolution);
        }
    }
}
