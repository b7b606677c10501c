//! What the whole probe reports when there is no usable measurement.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde_json::json;

use crate::support::server::{Server, answer};
use crate::support::{Run, probe, probe_with, request};
use wasmbench_model::wire::failure::FailureReason as Reason;

#[test]
fn a_persistent_wrong_answer_is_quoted_with_how_long_it_lasted() {
    let server = Server::start(|_, _| answer(200, "goodbye"));
    let mut request = request(server.address.port());
    request["readyTimeoutSeconds"] = json!(5);
    let run = probe(&request);
    assert_eq!((run.exit, run.failed()), (Some(1), Reason::WrongAnswer));
    let message = run.message();
    assert!(
        message.contains("no correct answer within 5 s"),
        "{message}"
    );
    assert!(message.contains("expected the body 'hello'"), "{message}");
    assert!(
        message.contains("status 200 with a body of 7 bytes: 'goodbye'"),
        "{message}"
    );
    // The five seconds begin a moment before the first attempt, from which the wait is counted.
    let readiness = run.document.readiness;
    assert!(readiness.waited_microseconds > 4_900_000, "{readiness:?}");
    assert_eq!(run.document.answer_before.unwrap().excerpt, "goodbye");
    assert!(run.document.timed.is_none() && !run.document.fortio_version.is_empty());
}

#[test]
fn a_closed_port_is_polled_every_millisecond_until_the_timeout() {
    // A system port that nothing uses; a free one could be taken by another test.
    let mut request = request(1);
    request["readyTimeoutSeconds"] = json!(3);
    let run = probe(&request);
    assert_eq!((run.exit, run.failed()), (Some(1), Reason::NeverListened));
    assert!(
        run.message().contains("no answer within 3 s"),
        "{}",
        run.message()
    );
    // The three seconds begin a moment before the first attempt, from which the wait is counted.
    let readiness = run.document.readiness;
    assert!(
        (2_900_000..60_000_000).contains(&readiness.waited_microseconds),
        "{readiness:?}"
    );
    // Some four thousand on an idle machine; thirty if there were 100 ms between them.
    assert!(readiness.attempts > 40, "{readiness:?}");
}

/// Answers correctly until the load has ended, then fails twice.
fn fails_after_the_load(may_fail: bool) -> Run {
    let own = AtomicU64::new(0);
    let server = Server::start(move |_, head| {
        let number = head
            .contains("wasmbench-probe")
            .then(|| own.fetch_add(1, Relaxed));
        match number {
            Some(1 | 2) => answer(503, "busy"),
            _ => answer(200, "hello"),
        }
    });
    let mut request = request(server.address.port());
    request["mayFail"] = json!(may_fail);
    probe(&request)
}

#[test]
fn failures_after_the_load_cost_the_trial_unless_some_may_fail() {
    let strict = fails_after_the_load(false);
    assert_eq!(
        strict.failed(),
        Reason::AnswerChanged,
        "{}",
        strict.progress
    );
    let lenient = fails_after_the_load(true);
    assert_eq!(lenient.exit, Some(0), "{}", lenient.progress);
    assert_eq!(lenient.document.answer_after.unwrap().status, 200);
}

#[test]
fn a_service_that_dies_under_load_has_no_answer_after_it() {
    // The first answer and an empty warm-up, which still is 50 requests, come before the window.
    let server = Server::start(|number, _| {
        if number < 80 {
            answer(200, "hello")
        } else {
            None
        }
    });
    let mut request = request(server.address.port());
    request["load"]["warmupRequests"] = json!(0);
    let run = probe_with(&request, &[]);
    assert_eq!((run.exit, run.failed()), (Some(1), Reason::AnswerChanged));
    assert!(
        run.message().contains("no answer after the load"),
        "{}",
        run.message()
    );
    let timed = run.document.timed.unwrap();
    let failed = timed
        .runs()
        .filter_map(|fortio| fortio["RetCodes"]["-1"].as_u64());
    assert!(failed.sum::<u64>() > 0, "the failures are kept");
}

#[test]
fn a_counter_may_count() {
    let server = Server::start(|number, _| answer(200, &format!("count {number}")));
    let mut request = request(server.address.port());
    request["expect"] = json!({"status": 200, "bodyPrefix": "count "});
    let run = probe(&request);
    assert_eq!(run.exit, Some(0), "{:?}", run.document.failure);
}

#[test]
fn answers_that_change_although_they_must_not_are_reported() {
    // The answer changes during the warm-up.
    let server =
        Server::start(|number, _| answer(200, if number < 10 { "hello a" } else { "hello b" }));
    let mut request = request(server.address.port());
    request["expect"] = json!({"status": 200, "bodyPrefix": "hello", "sameAcrossVariants": true});
    let run = probe(&request);
    assert_eq!((run.exit, run.failed()), (Some(1), Reason::AnswerChanged));
    assert!(
        run.message()
            .contains("'hello a' before the load, 'hello b' after")
    );
}

#[test]
fn a_window_in_which_every_request_fails_is_reported() {
    let server = Server::start(|number, _| answer(if number <= 20 { 200 } else { 500 }, "hello"));
    let run = probe(&request(server.address.port()));
    assert_eq!(
        (run.exit, run.failed()),
        (Some(1), Reason::NoSuccessfulRequest)
    );
    assert!(
        run.message().ends_with(" with status 500"),
        "{}",
        run.message()
    );
    assert!(run.document.timed.is_some());
}

#[test]
fn a_broken_generator_is_reported() {
    let server = Server::start(|_, _| answer(200, "hello"));
    for (generator, expected) in [
        ("/nowhere/generator", "could not start the load generator"),
        ("/bin/false", "the load generator ended with exit status: 1"),
        (
            "/bin/echo",
            "the load generator printed something else than a result",
        ),
    ] {
        let run = probe_with(
            &request(server.address.port()),
            &[("WASMBENCH_GENERATOR", generator)],
        );
        assert_eq!((run.exit, run.failed()), (Some(1), Reason::LoadFailed));
        assert!(run.message().contains(expected), "{}", run.message());
    }
}

#[test]
fn a_request_of_another_version_is_reported() {
    let run = probe(&json!({"target": "http://example.invalid/"}));
    assert_eq!((run.exit, run.failed()), (Some(1), Reason::BadRequest));
    let mut request = request(1);
    request["path"] = json!("/a b");
    assert_eq!(probe(&request).failed(), Reason::BadRequest);
}
