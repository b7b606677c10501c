//! Loads on a schedule with the real fortio, against servers whose answers are known.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::node::Proc;
use crate::support::server::{Server, answer};
use crate::support::{probe, request};

thread_local! {
    /// When the connection that this thread serves got its first request.
    static FIRST: Instant = Instant::now();
}

/// Answers in 5 ms, but stops for 500 ms two seconds after a connection's first request. All connections
/// of a window are opened at once, so that they stop together in every window that is long enough, also
/// in one after a longer warm-up, or that is measured again.
fn with_one_stall_per_window() -> Server {
    Server::start(|_, _| {
        let into = FIRST.with(Instant::elapsed).as_millis();
        let left = if into < 2000 {
            0
        } else {
            2500_u128.saturating_sub(into)
        };
        sleep(Duration::from_millis(u64::try_from(left).unwrap() + 5));
        answer(200, "hello")
    })
}

/// The mistake that a closed loop makes (coordinated omission): while the subject stops, the requests
/// that were due are not sent and not counted.
#[test]
fn a_stall_that_a_closed_loop_hides_is_seen_from_the_schedule() {
    let server = with_one_stall_per_window();
    let mut request = request(server.address.port());
    request["connections"] = json!(4);
    request["load"] = json!({"kind": "duration", "seconds": 12, "warmupSeconds": 1});
    let closed = Proc::quiet().probe(&request);
    assert_eq!(closed.exit, Some(0), "{}", closed.stderr);
    let timed = closed.document.timed.as_ref().unwrap();
    let max_and_p99 = |fortio: &Value| {
        let histogram = &fortio["DurationHistogram"];
        let percentiles = histogram["Percentiles"].as_array().unwrap();
        let p99 = percentiles.iter().find(|one| one["Percentile"] == 99.0);
        let p99 = p99.unwrap()["Value"].as_f64().unwrap();
        (histogram["Max"].as_f64().unwrap(), p99)
    };
    // Of the quarter with the stall.
    let (max, p99) = timed
        .runs()
        .map(max_and_p99)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .unwrap();
    assert!(max > 0.3, "the stall was in the window: {max}");
    assert!(p99 < max / 4.0, "{p99} {max}");

    request["load"] = json!({"kind": "openLoop", "percentOfPeak": 50, "peakSeconds": 1,
        "seconds": 6, "warmupSeconds": 1});
    let open = Proc::quiet().probe(&request);
    assert_eq!(open.exit, Some(0), "{}", open.stderr);
    let found = open.document.timed.unwrap().open_loop.unwrap();
    println!("{found:?}");
    assert!(found.service.max_microseconds > 300_000.0, "{found:?}");
    // Every twelfth request was due in the stall, and waited for 250 ms on the mean; only four were sent in it.
    let (service, from_schedule) = (found.service, found.from_schedule);
    assert!(
        from_schedule.p99_microseconds > 3.0 * service.p99_microseconds,
        "{found:?}"
    );
    assert!(from_schedule.p50_microseconds < 100_000.0, "{found:?}");
    assert!(found.waited_share > 0.02, "{found:?}");
    assert!(found.achieved_share > 0.9, "it caught up: {found:?}");
    assert!((found.requested_rps / found.peak.rps - 0.5).abs() < 1e-9);
}

#[test]
fn a_scheduled_load_sends_the_stated_requests_at_the_stated_rate() {
    let server = Server::start(|_, _| {
        sleep(Duration::from_millis(10));
        answer(200, "hello")
    });
    let mut request = request(server.address.port());
    request["connections"] = json!(2);
    request["load"] = json!({"kind": "openLoop", "percentOfPeak": 40, "peakSeconds": 1,
        "seconds": 4, "warmupSeconds": 0});
    let run = Proc::quiet().probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.stderr);
    let timed = run.document.timed.unwrap();
    let found = timed.open_loop.unwrap();
    // All but the first request of both connections.
    assert_eq!(timed.fortio["RetCodes"]["200"], json!(found.requests + 2));
    let seconds = Duration::from_nanos(timed.duration_nanoseconds).as_secs_f64();
    let rps = (found.requests + 2) as f64 / seconds;
    // A stall at the end makes it look slower: 15 % are 0.6 s.
    assert!(
        (rps / found.requested_rps - 1.0).abs() < 0.15,
        "{rps} {found:?}"
    );
    assert!(
        (10_000.0..30_000.0).contains(&found.service.p50_microseconds),
        "{found:?}"
    );
    assert!(found.from_schedule.p50_microseconds >= found.service.p50_microseconds);
}

#[test]
fn a_subject_too_slow_for_a_schedule_is_a_failure_that_says_so() {
    let server = Server::start(|_, _| {
        sleep(Duration::from_millis(600));
        answer(200, "hello")
    });
    let mut request = request(server.address.port());
    request["load"] = json!({"kind": "openLoop", "percentOfPeak": 50, "peakSeconds": 1,
        "seconds": 1, "warmupSeconds": 0});
    let run = probe(&request);
    assert!(
        run.message().contains("durationSeconds"),
        "{}",
        run.message()
    );
}
