//! Loads whose answers are known to the nanosecond.

use proptest::prelude::*;

use super::*;

const MILLISECOND: f64 = 1e6;

/// A subject that answers each request in `service`, counted from the end of the `stall` for
/// requests sent during it. The generator sends the request of turn `n` late by `late(n)`.
fn sent(
    schedule: &Schedule,
    service: f64,
    stall: Option<(f64, f64)>,
    late: impl Fn(u32) -> f64,
) -> Vec<Sent> {
    let mut all = vec![];
    for connection in 0..schedule.connections() {
        let mut free = 0.0_f64;
        for round in 0..schedule.requests() / schedule.connections() {
            let mut request = Sent {
                connection,
                round,
                at_nanoseconds: 0.0,
                service_nanoseconds: service,
                as_expected: true,
            };
            let turn = round * schedule.connections() + connection;
            request.at_nanoseconds = schedule.due(&request).max(free) + late(turn);
            let at = request.at_nanoseconds;
            if let Some((from, until)) = stall.filter(|(from, until)| (*from..*until).contains(&at))
            {
                assert!(from < until);
                request.service_nanoseconds = until - at + service;
            }
            free = at + request.service_nanoseconds;
            all.push(request);
        }
    }
    all
}

#[test]
fn requests_are_due_in_turn_over_all_connections() {
    let schedule = Schedule::new(100.0, 4, 2).unwrap();
    assert_eq!((schedule.requests(), schedule.connections()), (200, 4));
    assert!((schedule.seconds() - 2.0).abs() < 1e-9);
    let due = |connection, round| {
        schedule.due(&Sent {
            connection,
            round,
            at_nanoseconds: 0.0,
            service_nanoseconds: 0.0,
            as_expected: true,
        }) / MILLISECOND
    };
    assert_eq!(
        format!("{:?}", [due(0, 0), due(1, 0), due(3, 0), due(0, 1)]),
        "[0.0, 10.0, 30.0, 40.0]"
    );
}

#[test]
fn a_punctual_load_on_a_subject_that_keeps_up_shows_the_service_time() {
    let schedule = Schedule::new(1000.0, 10, 20).unwrap();
    let window = measured(&schedule, sent(&schedule, MILLISECOND, None, |_| 0.0)).unwrap();
    assert_eq!(window.service, window.from_schedule);
    assert!((window.from_schedule.p99_microseconds - 1000.0).abs() < 1e-6);
    assert!((window.achieved_share - 1.0).abs() < 1e-9);
    assert!(window.waited_share < 1e-9);
    assert_eq!(window.requests, 20_000);
    assert!(window.from_schedule.p999_microseconds.is_some());
}

/// A service that sheds load looks fast where its refusals count as answers.
#[test]
fn shed_requests_are_not_in_the_percentiles_of_the_answers() {
    let schedule = Schedule::new(1000.0, 10, 20).unwrap();
    let mut all = sent(&schedule, MILLISECOND, None, |_| 0.0);
    for request in all.iter_mut().filter(|sent| sent.round % 10 < 3) {
        request.service_nanoseconds = 0.01 * MILLISECOND;
        request.as_expected = false;
    }
    let window = measured(&schedule, all).unwrap();
    assert_eq!((window.requests, window.failed), (20_000, 6000));
    assert!((window.from_schedule.p50_microseconds - 1000.0).abs() < 1e-6);
    assert!((window.service.p90_microseconds - 1000.0).abs() < 1e-6);
    let shed = window.failed_from_schedule.unwrap();
    assert!((shed.p99_microseconds - 10.0).abs() < 1e-6, "{shed:?}");
}

/// The textbook case: a closed loop records only one slow request per connection, but all that were
/// due in the meantime are slow as well.
#[test]
fn a_stall_delays_every_request_that_was_due_in_it() {
    let schedule = Schedule::new(1000.0, 2, 4).unwrap();
    let stall = Some((1000.0 * MILLISECOND, 1200.0 * MILLISECOND));
    let window = measured(
        &schedule,
        sent(&schedule, 0.1 * MILLISECOND, stall, |_| 0.0),
    )
    .unwrap();
    // 2 of 4000 requests met the stall itself, and 200 were due in it.
    assert!((window.service.p99_microseconds - 100.0).abs() < 1.0);
    let p99 = window.from_schedule.p99_microseconds;
    // The slowest 40 of 200 that were due evenly over 200 ms.
    assert!((155_000.0..170_000.0).contains(&p99), "{p99}");
    assert!((0.045..0.06).contains(&window.waited_share), "{window:?}");
    assert!(window.achieved_share > LEAST_ACHIEVED, "it caught up");
    assert!(window.generator_delay.max_microseconds < 1.0, "{window:?}");
}

#[test]
fn a_late_generator_is_distinguished_from_a_slow_subject() {
    let schedule = Schedule::new(1000.0, 10, 4).unwrap();
    let late = |turn: u32| {
        if turn.is_multiple_of(10) {
            3.0 * MILLISECOND
        } else {
            0.0
        }
    };
    let window = measured(&schedule, sent(&schedule, MILLISECOND, None, late)).unwrap();
    assert!(
        (window.from_schedule.max_microseconds - 1000.0).abs() < 1.0,
        "{window:?}"
    );
    assert!((window.generator_delay.p99_microseconds - 3000.0).abs() < 1.0);
    assert!(window.generator_delay.p50_microseconds < 1.0);
}

#[test]
fn a_subject_that_cannot_keep_up_achieves_its_own_rate() {
    // Two connections of 4 ms each: 500 requests a second at most.
    let schedule = Schedule::new(1000.0, 2, 10).unwrap();
    let window = measured(&schedule, sent(&schedule, 4.0 * MILLISECOND, None, |_| 0.0)).unwrap();
    assert!((0.49..0.51).contains(&window.achieved_share), "{window:?}");
    assert!(window.from_schedule.p50_microseconds > 1e6);
}

#[test]
fn slow_answers_do_not_lower_the_achieved_rate() {
    let schedule = Schedule::new(100.0, 50, 5).unwrap();
    let window = measured(
        &schedule,
        sent(&schedule, 400.0 * MILLISECOND, None, |_| 0.0),
    )
    .unwrap();
    assert!((window.achieved_share - 1.0).abs() < 1e-9);
}

#[test]
fn a_log_with_a_missing_or_duplicate_line_is_refused() {
    let schedule = Schedule::new(100.0, 2, 1).unwrap();
    let all = sent(&schedule, MILLISECOND, None, |_| 0.0);
    let missing = all[1..].to_vec();
    assert_eq!(measured(&schedule, missing).unwrap_err().seen, 99);
    let mut twice = all.clone();
    twice[1] = twice[0];
    assert!(measured(&schedule, twice).is_err());
}

#[test]
fn percentiles_are_those_of_the_sorted_times() {
    let all = quantiles((1..=1000).rev().map(|us| f64::from(us) * 1e3).collect());
    let found = [
        all.p50_microseconds,
        all.p90_microseconds,
        all.p99_microseconds,
        all.max_microseconds,
    ];
    assert_eq!(format!("{found:?}"), "[500.0, 900.0, 990.0, 1000.0]");
    assert_eq!(all.p999_microseconds, None);
}

#[test]
fn a_rate_with_fewer_than_two_requests_has_no_schedule() {
    for rps in [0.0, 0.1, f64::NAN, f64::INFINITY, -3.0] {
        assert_eq!(Schedule::new(rps, 10, 10), None, "{rps}");
    }
}

proptest! {
    #[test]
    fn a_schedule_never_exceeds_its_limits(
        rps in 0.5f64..1e7, connections in 1u32..=512, seconds in 4u32..=600,
    ) {
        let schedule = Schedule::new(rps, connections, seconds).unwrap();
        prop_assert!(schedule.connections() <= connections);
        prop_assert!(schedule.requests() <= MOST_REQUESTS);
        prop_assert!(schedule.requests() >= LEAST_PER_CONNECTION * schedule.connections());
        prop_assert!(schedule.seconds() <= f64::from(seconds) + 1e-6);
        // What is rounded away is less than one request per connection.
        let requested = (rps * f64::from(seconds)).min(f64::from(MOST_REQUESTS));
        prop_assert!(requested - f64::from(schedule.requests()) < f64::from(connections) + 1.0);
    }

    /// Whatever happens, the latency from the schedule is never less than the service time, and
    /// subject and generator together account for all the time until the response.
    #[test]
    fn the_parts_of_each_request_add_up(
        connections in 1u32..8,
        service in prop::collection::vec(1.0f64..2e7, 64),
        late in prop::collection::vec(0.0f64..5e6, 64),
    ) {
        let schedule = Schedule::new(400.0, connections, 1).unwrap();
        let mut all = sent(&schedule, 0.0, None, |_| 0.0);
        let mut free = 0.0;
        for (at, request) in all.iter_mut().enumerate() {
            if request.round == 0 {
                free = 0.0;
            }
            request.service_nanoseconds = service[at % service.len()];
            request.at_nanoseconds = schedule.due(request).max(free) + late[at % late.len()];
            free = request.at_nanoseconds + request.service_nanoseconds;
        }
        let replayed = replay(&schedule, &all);
        let counted: Vec<&Sent> = all.iter().collect();
        prop_assert_eq!(replayed.len(), counted.len());
        for (times, request) in replayed.iter().zip(counted) {
            let due = schedule.due(request);
            let ended = request.at_nanoseconds + request.service_nanoseconds;
            let sum = times.waited + times.service + times.generator;
            prop_assert!((ended - due - sum).abs() < 1.0);
            prop_assert!(times.waited >= 0.0 && times.generator >= 0.0);
        }
        let window = measured(&schedule, all).unwrap();
        prop_assert!(window.service.p99_microseconds <= window.from_schedule.p99_microseconds);
        prop_assert!(window.achieved_share <= 1.0);
    }
}
