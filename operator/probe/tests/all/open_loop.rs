//! Loads on a schedule with the real generator, against servers whose answers are known.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::node::Proc;
use crate::support::server::{Server, answer, hello_after};
use crate::support::{probe, request};

thread_local! {
    /// When the connection that this thread serves got its first request.
    static FIRST: Instant = Instant::now();
}

/// Answers in 50 ms, but stalls for one second, two seconds after a connection's first request. All
/// connections of a window are opened at once, so they stall together in every window that is long
/// enough, even after a longer warm-up or in a repeat. What a busy machine adds is short in
/// comparison.
fn with_one_stall_per_window() -> Server {
    Server::start(|_, _| {
        let into = FIRST.with(Instant::elapsed).as_millis();
        let left = if into < 2000 {
            0
        } else {
            3000_u128.saturating_sub(into)
        };
        sleep(Duration::from_millis(u64::try_from(left).unwrap() + 50));
        answer(200, "hello")
    })
}

/// The mistake that a closed loop makes (coordinated omission): while the subject stalls, the
/// requests that are due are neither sent nor counted.
#[test]
fn a_stall_that_a_closed_loop_hides_is_seen_from_the_schedule() {
    let server = with_one_stall_per_window();
    let mut request = request(server.address.port());
    request["connections"] = json!(4);
    // Short enough to be one run of the generator.
    request["load"] = json!({"kind": "duration", "seconds": 4, "warmupSeconds": 1});
    let closed = Proc::quiet().probe(&request);
    assert_eq!(closed.exit, Some(0), "{}", closed.progress);
    let timed = closed.document.timed.as_ref().unwrap();
    assert_eq!(timed.runs().count(), 1);
    let max = timed.fortio["DurationHistogram"]["Max"].as_f64().unwrap();
    assert!(max > 0.5, "the stall was in the window: {max}");
    // One request of each connection met the stall.
    let p90 = closed.percentile(90.0);
    assert!(p90 < max / 4.0, "{p90} {max}");

    // Half of what four connections with answers in 50 ms could carry.
    request["load"] = json!({"kind": "openLoop", "requestedRps": 40.0, "seconds": 8,
        "warmupSeconds": 1});
    let open = Proc::quiet().probe(&request);
    assert_eq!(open.exit, Some(0), "{}", open.progress);
    let found = open.document.timed.unwrap().open_loop.unwrap();
    println!("{found:?}");
    assert!(found.service.max_microseconds > 500_000.0, "{found:?}");
    // One request in eight was due during the stall, and as many before the queue was worked off;
    // only four were sent during it.
    let (service, from_schedule) = (found.service, found.from_schedule);
    assert!(
        from_schedule.p90_microseconds > 3.0 * service.p90_microseconds,
        "{found:?}"
    );
    assert!(
        from_schedule.p50_microseconds < from_schedule.p90_microseconds / 2.0,
        "{found:?}"
    );
    assert!(found.waited_share > 0.1, "{found:?}");
    assert!(found.achieved_share > 0.9, "it caught up: {found:?}");
    assert!((found.requested_rps - 40.0).abs() < 1e-9);
}

#[test]
fn a_scheduled_load_sends_the_stated_requests_at_the_stated_rate() {
    let server = hello_after(10);
    let mut request = request(server.address.port());
    request["connections"] = json!(2);
    request["load"] = json!({"kind": "openLoop", "requestedRps": 70.5, "seconds": 4,
        "warmupSeconds": 0});
    let run = Proc::quiet().probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let timed = run.document.timed.unwrap();
    let found = timed.open_loop.unwrap();
    assert!((found.requested_rps - 70.5).abs() < 1e-9, "{found:?}");
    assert_eq!(timed.fortio["RetCodes"]["200"], json!(found.requests));
    // As many as are due in four seconds, less a fraction of one and up to one for each connection.
    let (sent, planned) = (found.requests as f64, 4.0 * found.requested_rps);
    assert!(
        sent <= planned && planned < sent + 3.0,
        "{planned} {found:?}"
    );
    // No request is sent before it is due, and the delay of the last one is reported.
    let due = (sent - 1.0) / found.requested_rps;
    let seconds = Duration::from_nanos(timed.duration_nanoseconds).as_secs_f64();
    assert!(seconds > 0.99 * due, "{seconds} {due} {found:?}");
    let kept = (due / seconds).min(1.0);
    assert!(
        (kept - 0.01..=1.0).contains(&found.achieved_share),
        "{kept} {found:?}"
    );
    // A stall at the end makes it look slower; this tolerates four seconds.
    assert!(found.achieved_share > 0.5, "{found:?}");
    assert!(found.service.p50_microseconds >= 10_000.0, "{found:?}");
    assert!(found.from_schedule.p50_microseconds >= found.service.p50_microseconds);
}

#[test]
fn a_rate_too_low_for_a_schedule_is_reported_as_a_failure() {
    let server = hello_after(0);
    let mut request = request(server.address.port());
    request["load"] = json!({"kind": "openLoop", "requestedRps": 1.0, "seconds": 1,
        "warmupSeconds": 0});
    let run = probe(&request);
    assert!(
        run.message().contains("durationSeconds"),
        "{}",
        run.message()
    );
}

/// One connection and answers in 5 ms: 200 requests per second at most.
#[test]
fn a_climb_ends_two_rungs_above_what_the_subject_can_do_and_being_behind_is_no_failure() {
    let server = hello_after(5);
    let mut request = request(server.address.port());
    request["load"] = json!({"kind": "openLoop", "requestedRps": 400.0, "seconds": 300,
        "warmupSeconds": 0});
    // More than a busy machine takes for an answer, far less than a queue that grows for seconds.
    request["ladder"] = json!({"rates": [400.0, 800.0, 1600.0, 3200.0, 6400.0], "seconds": 1,
        "target": {"p99Microseconds": 1_000_000.0, "maxErrorShare": 0.0}});
    let run = Proc::quiet().probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    assert_eq!(run.document.timed, None);
    let rungs = run.document.rungs;
    let rates: Vec<f64> = rungs.iter().map(|rung| rung.requested_rps).collect();
    assert_eq!(rates, [400.0, 800.0], "{}", run.progress);
    for rung in &rungs {
        let Some(window) = &rung.window else { continue };
        let found = window.open_loop.unwrap();
        assert!(found.requests >= 1000, "{found:?}");
        assert!(
            found.from_schedule.p99_microseconds > 1_000_000.0,
            "{found:?}"
        );
        assert!(window.fortio.is_null());
    }
}

#[test]
fn a_climb_that_never_misses_the_target_has_every_rung() {
    let server = hello_after(0);
    let mut request = request(server.address.port());
    request["connections"] = json!(8);
    request["load"] = json!({"kind": "openLoop", "requestedRps": 500.0, "seconds": 60,
        "warmupSeconds": 0});
    request["ladder"] = json!({"rates": [500.0, 700.0], "seconds": 1,
        "target": {"p99Microseconds": 5_000_000.0, "maxErrorShare": 0.0}});
    let run = Proc::quiet().probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let rates: Vec<f64> = run
        .document
        .rungs
        .iter()
        .map(|rung| rung.requested_rps)
        .collect();
    assert_eq!(rates, [500.0, 700.0], "{}", run.progress);
}
