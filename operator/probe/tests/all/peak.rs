//! The peak of which the rates of an open loop are shares, with the real load generator: the scout
//! finds it, notices what disturbs it, and measures it again.

use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use serde_json::json;
use wasmbench_model::wire::scout::Scouted;

use crate::scout::{request, scout_with, workload};
use crate::support::node::Proc;
use crate::support::server::{Server, answer};
use crate::support::{generator, shared_cpus};

/// What a scout sees of `server` if it measures the peak over two connections for three seconds,
/// after 0.3 s of warm-up.
fn scouted(server: &Server, node: &Proc) -> Scouted {
    let _shared = shared_cpus();
    let hello = workload("/hello", &json!({"body": "hello"}));
    let mut request = request(server.address.port(), &[hello]);
    request["peak"] = json!({"connections": 2, "seconds": 3, "warmupSeconds": 0});
    let generator = generator().to_str().unwrap();
    let environment = [
        ("WASMBENCH_GENERATOR", generator),
        ("WASMBENCH_PROC_ROOT", node.root()),
    ];
    let (exit, document) = scout_with(&request, &environment);
    assert_eq!((exit, &document.failure), (Some(0), &None));
    document.workloads.into_iter().next().unwrap()
}

/// A request within the peak. The scout sends three, and two connections that wait 20 ms send at
/// most 37 before the peak and 300 during it: even if a busy machine makes each take four times as
/// long, the next ten are part of the peak.
const IN_PEAK: u64 = 60;

#[test]
fn a_peak_that_a_neighbour_halved_is_measured_again() {
    let node = Proc::quiet();
    let robbed = Arc::clone(&node);
    // A neighbour slows the first peak down, and is gone before the second.
    let server = Server::start(move |number, _| {
        if number == IN_PEAK {
            robbed.steal();
        }
        sleep(Duration::from_millis(20));
        answer(200, "hello")
    });
    let observed = scouted(&server, &node);
    let peak = observed.peak.unwrap_or_else(|| panic!("{observed:?}"));
    assert_eq!(peak.steal_share, Some(0.0), "that without it");
    assert_eq!((peak.failed, observed.no_peak), (0, None));
    assert!(peak.rps > 0.0 && peak.rps < 120.0, "{peak:?}");
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
    let peak = scouted(&server, &node).peak.unwrap();
    assert_eq!(peak.failed, 10);
    assert!(peak.steal_share.unwrap() > 0.1, "{peak:?}");
}

#[test]
fn a_service_that_answers_nothing_under_load_has_no_peak_and_the_scout_goes_on() {
    let server = Server::start(|number, _| {
        let status = if number < 3 { 200 } else { 503 };
        answer(status, "hello")
    });
    let observed = scouted(&server, &Proc::quiet());
    assert_eq!(
        (observed.answers.len(), &observed.failure, observed.peak),
        (2, &None, None)
    );
    let why = observed.no_peak.unwrap();
    assert!(why.contains("no request at the peak"), "{why}");
}
