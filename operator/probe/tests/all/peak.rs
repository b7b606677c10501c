//! The peak from which a load on a schedule is made, with the real fortio: what disturbs the peak
//! is noticed, and both peak and window are measured again.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;

use crate::support::node::Proc;
use crate::support::server::{Server, answer};
use crate::support::{Run, request};

/// Runs a load at half the peak of `server`, over two connections; the peak takes two seconds,
/// after 0.3 s of warm-up.
fn at_half(server: &Server, node: &Proc) -> Run {
    let mut request = request(server.address.port());
    request["connections"] = json!(2);
    request["load"] = json!({"kind": "openLoop", "percentOfPeak": 50, "peakSeconds": 2,
        "seconds": 1, "warmupSeconds": 0});
    let run = node.probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    run
}

/// A request within the peak. Two connections that wait 20 ms send at most 37 requests before the
/// peak and 200 during it: even if a busy machine makes each take four times as long, the next ten
/// are part of the peak.
const IN_PEAK: u64 = 40;

#[test]
fn a_peak_that_a_neighbour_halved_is_measured_again_with_its_window() {
    let node = Proc::quiet();
    let robbed = Arc::clone(&node);
    // A neighbour slows the first peak down, and is gone before the window.
    let server = Server::start(move |number, _| {
        if number == IN_PEAK {
            robbed.steal();
        }
        let wait = if number > 2 * IN_PEAK { 5 } else { 20 };
        sleep(Duration::from_millis(wait));
        answer(200, "hello")
    });
    let run = at_half(&server, &node);
    let timed = run.document.timed.as_ref().unwrap();
    let found = timed.open_loop.unwrap();
    assert!(
        run.progress.contains("the node was noisy"),
        "{}",
        run.progress
    );
    let discarded = timed.discarded.unwrap();
    assert!(discarded.steal_share.unwrap() > 0.1, "{discarded:?}");
    assert_eq!(found.peak.steal_share, Some(0.0), "that without it");
    assert!((found.requested_rps / found.peak.rps - 0.5).abs() < 1e-9);
}

#[test]
fn failures_at_the_peak_are_counted_and_no_repeat_hides_them() {
    let node = Proc::quiet();
    let robbed = Arc::clone(&node);
    let server = Server::start(move |number, _| {
        sleep(Duration::from_millis(20));
        if number == IN_PEAK {
            robbed.steal();
        }
        if (IN_PEAK..IN_PEAK + 10).contains(&number) {
            answer(503, "busy")
        } else {
            answer(200, "hello")
        }
    });
    let run = at_half(&server, &node);
    let timed = run.document.timed.as_ref().unwrap();
    let peak = timed.open_loop.unwrap().peak;
    assert_eq!(peak.failed, Some(10));
    assert!(peak.steal_share.unwrap() > 0.1, "{peak:?}");
    assert!(peak.generator_cpu_nanoseconds.unwrap() > 0, "{peak:?}");
    assert_eq!(timed.discarded, None);
    let codes = timed.fortio["RetCodes"].as_object().unwrap();
    assert!(codes.keys().eq(["200"]), "{codes:?}");
}
