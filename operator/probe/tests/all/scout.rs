//! What the whole probe reports about a service before it is measured.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use wasmbench_model::wire::failure::FailureReason as Reason;
use wasmbench_model::wire::request::REQUEST_ENV;
use wasmbench_model::wire::scout::{AfterAnswer, BodyFraming, ScoutDocument, Scouted};

use crate::support::UID;
use crate::support::server::{Server, answer};

/// A request to look at a service on the loopback under these workloads.
pub fn request(port: u16, workloads: &[Value]) -> Value {
    json!({
        "address": "127.0.0.1", "port": port, "podUid": UID, "readyTimeoutSeconds": 60,
        "meter": "none", "workloads": workloads,
    })
}

pub fn workload(path: &str, expect: &Value) -> Value {
    json!({"name": path.trim_start_matches('/'), "path": path, "expect": expect})
}

/// The exit code and the document of the probe.
pub fn scout_with(request: &Value, environment: &[(&str, &str)]) -> (Option<i32>, ScoutDocument) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wasmbench-probe"));
    command.arg("scout").env(REQUEST_ENV, request.to_string());
    let output = command.envs(environment.iter().copied()).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let last = printed.lines().last().expect("a last line");
    let document = serde_json::from_str(last).unwrap_or_else(|_| panic!("{printed}"));
    (output.status.code(), document)
}

fn scout(request: &Value) -> (Option<i32>, ScoutDocument) {
    scout_with(request, &[])
}

/// What is observed of the only workload of a server with these answers.
fn observed(
    answers: impl Fn(u64, &str) -> Option<Vec<u8>> + Send + Sync + 'static,
    workload: Value,
) -> Scouted {
    let server = Server::start(answers);
    let (exit, document) = scout(&request(server.address.port(), &[workload]));
    assert_eq!((exit, &document.failure), (Some(0), &None));
    document.workloads.into_iter().next().unwrap()
}

#[test]
fn each_workload_is_requested_twice_on_one_connection_and_the_node_is_read_idle() {
    let server = Server::start(|_, head| {
        assert!(head.contains("User-Agent: wasmbench-probe/"), "{head}");
        answer(200, if head.contains("/one") { "1" } else { "two" })
    });
    let both = [
        workload("/one", &json!({"body": "1"})),
        workload("/two", &json!({"bodyPrefix": "t"})),
    ];
    let (exit, document) = scout(&request(server.address.port(), &both));
    assert_eq!((exit, document.failure), (Some(0), None));
    assert!(document.readiness.attempts > 0);
    let names: Vec<&str> = document
        .workloads
        .iter()
        .map(|observed| observed.workload.as_str())
        .collect();
    assert_eq!(names, ["one", "two"]);
    for (observed, bytes) in document.workloads.iter().zip([1, 3]) {
        assert_eq!(
            (observed.answers.len(), &observed.failure),
            (2, &None),
            "{observed:?}"
        );
        let no_peak = (observed.peak, observed.no_peak.as_deref());
        assert_eq!(no_peak, (None, None), "none was requested");
        for answer in &observed.answers {
            assert_eq!(answer.answer.body_bytes, bytes);
            assert_eq!(answer.framing, BodyFraming::Length);
            assert_eq!(answer.connection, AfterAnswer::Kept);
        }
    }
    let idle = document.idle.expect("this node can be read");
    assert!(idle.duration_nanoseconds >= 1_000_000_000, "{idle:?}");
    assert_eq!(idle.own_nanoseconds, None, "nothing may be read of the pod");
}

#[test]
fn an_answer_that_changes_by_itself_is_found_before_the_load() {
    let count = |number: u64, _: &str| answer(200, &number.to_string());
    let same = observed(count, workload("/", &json!({"sameAcrossVariants": true})));
    let failure = same.failure.expect("a failure");
    assert_eq!(failure.reason, Reason::AnswerChanged);
    assert!(failure.message.contains("'1', then '2'"), "{failure:?}");
    // A counter that counts is no error.
    assert_eq!(observed(count, workload("/", &json!({}))).failure, None);
}

#[test]
fn a_wrong_answer_fails_its_workload_and_the_others_are_still_checked() {
    let server = Server::start(|_, _| answer(200, "hello"));
    let both = [
        workload("/liar", &json!({"body": "goodbye"})),
        workload("/good", &json!({"body": "hello"})),
    ];
    let mut request = request(server.address.port(), &both);
    request["readyTimeoutSeconds"] = json!(1);
    let (exit, document) = scout(&request);
    assert_eq!((exit, document.failure), (Some(0), None));
    let [liar, good] = &document.workloads[..] else {
        panic!("{:?}", document.workloads);
    };
    let failure = liar.failure.as_ref().expect("a failure");
    assert_eq!(failure.reason, Reason::WrongAnswer);
    assert!(
        failure.message.contains("the body 'goodbye'"),
        "{failure:?}"
    );
    assert_eq!(liar.answers[0].answer.excerpt, "hello");
    assert_eq!((good.answers.len(), &good.failure), (2, &None));
}

#[test]
fn a_workload_without_time_is_not_judged_by_a_single_attempt() {
    let server = Server::start(|_, head| {
        let status = if head.contains("/sheds") { 503 } else { 200 };
        answer(status, "hello")
    });
    let both = [
        workload("/liar", &json!({"body": "goodbye"})),
        workload("/sheds", &json!({"body": "hello"})),
    ];
    let mut request = request(server.address.port(), &both);
    request["readyTimeoutSeconds"] = json!(1);
    let (_, document) = scout(&request);
    let [liar, sheds] = &document.workloads[..] else {
        panic!("{:?}", document.workloads);
    };
    assert!(liar.failure.is_some());
    assert_eq!((sheds.answers.len(), &sheds.failure), (2, &None));
}

/// Answers rightly at first and, over the kept connection, what the test supplies.
fn after_the_first(then: [u16; 2]) -> impl Fn(u64, &str) -> Option<Vec<u8>> + Send + Sync {
    move |number, _| match number {
        0 => answer(200, "hello"),
        later => answer(then[usize::from(later > 1)], "hello"),
    }
}

#[test]
fn a_workload_fails_only_if_no_request_may_fail_and_all_do() {
    let strict = workload("/", &json!({"body": "hello"}));
    let all = observed(after_the_first([503, 503]), strict.clone());
    let failure = all.failure.expect("a failure");
    assert_eq!(failure.reason, Reason::WrongAnswer);
    assert!(
        failure.message.contains("expected status 200"),
        "{failure:?}"
    );
    // A load counts how many they are.
    let one = observed(after_the_first([503, 200]), strict.clone());
    assert_eq!(one.failure, None);
    let mut lenient = strict;
    lenient["mayFail"] = json!(true);
    assert_eq!(observed(after_the_first([503, 503]), lenient).failure, None);
}

/// Answers one request of each connection, and ends it a little later, when nobody reads any more.
fn closing_late() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
            thread::sleep(Duration::from_millis(200));
            // What came meanwhile is never read.
        }
    });
    port
}

#[test]
fn a_connection_that_ends_before_the_next_request_was_closed_silently() {
    let (exit, document) = scout(&request(closing_late(), &[workload("/", &json!({}))]));
    assert_eq!((exit, document.failure), (Some(0), None));
    let observed = &document.workloads[0];
    assert_eq!(
        (observed.answers.len(), &observed.failure),
        (2, &None),
        "{observed:?}"
    );
    assert_eq!(observed.answers[0].connection, AfterAnswer::Closed);
}

#[test]
fn a_service_that_answers_nothing_fails_the_scout() {
    // A system port that nothing uses.
    let mut request = request(1, &[workload("/", &json!({}))]);
    request["readyTimeoutSeconds"] = json!(1);
    let (exit, document) = scout(&request);
    assert_eq!(exit, Some(1));
    let failure = document.failure.expect("a failure");
    assert_eq!(failure.reason, Reason::NeverListened);
    let (exit, document) = scout(&json!({}));
    assert_eq!(exit, Some(1));
    assert_eq!(document.failure.unwrap().reason, Reason::BadRequest);
}

#[test]
fn an_instance_is_initialised_once_and_other_code_is_not_queried() {
    let server = Server::start(|_, _| answer(200, "{}"));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("hash"), "program").unwrap();
    let function = |name: &str, code: &str| {
        let call = json!({"code": code, "parameters": {}, "instances": "pods"});
        json!({"name": name, "path": "/", "action": call, "expect": {}})
    };
    let all = [
        function("first", "hash"),
        function("other", "hash-large"),
        function("same", "hash"),
    ];
    let request = request(server.address.port(), &all);
    let folder = folder.path().to_str().unwrap();
    let (exit, document) = scout_with(&request, &[("WASMBENCH_ACTIONS", folder)]);
    assert_eq!((exit, document.failure), (Some(0), None));
    let answers: Vec<usize> = document
        .workloads
        .iter()
        .map(|observed| observed.answers.len())
        .collect();
    assert_eq!(answers, [2, 0, 2]);
    let why = document.workloads[1].not_asked.as_deref().unwrap();
    assert!(why.contains("hash"), "{why}");
}
