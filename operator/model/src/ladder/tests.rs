//! Climbs whose capacity is known.

use std::slice;

use proptest::prelude::*;

use super::*;
use crate::wire::document::TimedWindow;
use crate::wire::open_loop::Quantiles;

/// 50 ms, and one request in a hundred may fail.
const TARGET: Target = Target {
    p99_microseconds: 50_000.0,
    max_error_share: 0.01,
};

fn quantiles(p99_milliseconds: f64) -> Quantiles {
    Quantiles {
        p99_microseconds: p99_milliseconds * 1e3,
        ..Quantiles::default()
    }
}

/// A rung at this rate with this p99, of which so many of a thousand requests failed, and whose
/// generator was late by so many milliseconds.
fn window(rps: f64, p99: f64, failed: u64, late: f64) -> Rung {
    let open_loop = OpenLoopWindow {
        requested_rps: rps,
        requests: 1000,
        failed,
        from_schedule: quantiles(p99),
        generator_delay: quantiles(late),
        ..OpenLoopWindow::default()
    };
    Rung {
        requested_rps: rps,
        between: false,
        window: Some(TimedWindow {
            open_loop: Some(open_loop),
            ..TimedWindow::default()
        }),
    }
}

fn rung(rps: f64, p99: f64) -> Rung {
    window(rps, p99, 0, 0.1)
}

fn unfinished(rps: f64) -> Rung {
    Rung {
        requested_rps: rps,
        between: false,
        window: None,
    }
}

fn crossed(rungs: &[Rung]) -> f64 {
    match capacity(rungs, TARGET) {
        Some(Capacity::Crossed(rps)) => rps,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_crossing_is_interpolated_in_the_logarithm_of_p99() {
    // 5 ms to 500 ms: 50 ms lies in the middle of the two logarithms.
    let found = crossed(&[rung(100.0, 2.0), rung(200.0, 5.0), rung(300.0, 500.0)]);
    assert!((found - 250.0).abs() < 1e-9, "{found}");
}

#[test]
fn a_rung_that_is_slower_than_one_above_it_was_disturbed() {
    let found = crossed(&[rung(100.0, 300.0), rung(200.0, 5.0), rung(300.0, 500.0)]);
    assert!((found - 250.0).abs() < 1e-9, "{found}");
}

#[test]
fn beyond_the_ends_of_the_ladder_only_a_bound_is_known() {
    let all_meet = [rung(100.0, 2.0), rung(200.0, 5.0)];
    assert_eq!(capacity(&all_meet, TARGET), Some(Capacity::AtLeast(200.0)));
    let none_meets = [rung(100.0, 70.0), rung(200.0, 500.0)];
    assert_eq!(capacity(&none_meets, TARGET), Some(Capacity::Below(100.0)));
    assert_eq!(capacity(&[], TARGET), None);
}

#[test]
fn more_failures_than_may_be_miss_the_target_whatever_the_latency() {
    let met = window(200.0, 5.0, 10, 0.1);
    let missed = window(300.0, 5.0, 11, 0.1);
    let outcomes = outcomes(&[met.clone(), missed.clone()], TARGET);
    assert_eq!(outcomes, [Outcome::Met, Outcome::Missed]);
    // It has no p99 to interpolate to: the crossing is anywhere between.
    let found = crossed(&[met, missed]);
    assert!((found - 60_000_f64.sqrt()).abs() < 1e-9, "{found}");
}

#[test]
fn a_subject_that_is_slow_misses_the_target_and_a_generator_that_is_late_shows_nothing() {
    let slow = window(300.0, 4000.0, 0, 600.0);
    assert_eq!(outcomes(&[slow], TARGET), [Outcome::Missed]);
    let late = window(300.0, 3.0, 0, 11.0);
    assert_eq!(outcomes(slice::from_ref(&late), TARGET), [Outcome::Invalid]);
    let climb = [rung(200.0, 5.0), late, rung(400.0, 500.0)];
    assert!((crossed(&climb) - 300.0).abs() < 1e-9);
}

#[test]
fn a_rung_that_was_not_finished_is_missed_unless_the_generator_was_late_before() {
    let late = window(300.0, 3.0, 0, 11.0);
    let slow = [rung(200.0, 5.0), unfinished(300.0)];
    assert!((crossed(&slow) - 60_000_f64.sqrt()).abs() < 1e-9);
    let busy = [rung(200.0, 5.0), late, unfinished(400.0)];
    assert_eq!(capacity(&busy, TARGET), Some(Capacity::AtLeast(200.0)));
}

#[test]
fn after_the_climb_rates_halfway_to_the_crossing_are_tried_until_rungs_are_close() {
    let mut rungs = vec![rung(100.0, 2.0), rung(200.0, 5.0), rung(242.0, 500.0)];
    assert_eq!(between(&rungs, TARGET), Some(220.0));
    rungs.insert(2, rung(220.0, 6.0));
    assert_eq!(between(&rungs, TARGET), Some(230.74));
    rungs.insert(3, rung(222.0, 500.0));
    assert_eq!(between(&rungs, TARGET), None, "0.9 % apart");
    for one_sided in [vec![rung(100.0, 2.0)], vec![rung(100.0, 70.0)]] {
        assert_eq!(between(&one_sided, TARGET), None);
    }
}

#[test]
fn a_climb_ends_when_two_rungs_in_a_row_have_missed_the_target() {
    use Outcome::{Invalid, Met, Missed};
    for (outcomes, expected) in [
        (vec![], false),
        (vec![Met, Missed], false),
        (vec![Met, Missed, Met, Missed], false),
        (vec![Met, Missed, Missed], true),
        (vec![Met, Missed, Invalid, Missed], true),
        (vec![Missed, Missed], true),
    ] {
        assert_eq!(is_over(&outcomes), expected, "{outcomes:?}");
    }
}

#[test]
fn a_ladder_around_a_peak_has_eight_rungs_at_equal_ratios() {
    let rates = around(1000.0);
    assert_eq!(rates.len(), 8);
    assert!((rates[0] - 300.0).abs() < 1e-6 && (rates[7] - 1300.0).abs() < 1e-6);
    let ratio = rates[1] / rates[0];
    assert!(
        rates
            .windows(2)
            .all(|two| (two[1] / two[0] - ratio).abs() < 1e-9)
    );
}

#[test]
fn a_rung_lasts_until_a_p99_is_carried() {
    assert_eq!(seconds(500.0, 50, 10), 10);
    assert_eq!(seconds(60.0, 50, 10), 18);
    assert_eq!(seconds(2.0, 50, 10), 525);
    assert_eq!(seconds(0.1, 50, 10), LONGEST_SECONDS);
}

proptest! {
    #[test]
    fn a_capacity_lies_on_the_ladder(p99s in prop::collection::vec(0.1f64..1e5, 1..=8)) {
        let rungs: Vec<Rung> = (1u32..).zip(&p99s).map(|(at, p99)| rung(f64::from(at), *p99)).collect();
        let [least, most] = capacity(&rungs, TARGET).unwrap().ends();
        prop_assert!(least <= most && most >= 1.0);
        prop_assert!(least <= f64::from(u32::try_from(p99s.len()).unwrap()));
    }
}
