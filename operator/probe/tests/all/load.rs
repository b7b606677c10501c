//! The whole probe with the real generator against a server on the loopback.

use std::collections::BTreeSet;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wasmbench_model::wire::document::LOAD_SCHEMA;
use wasmbench_results::read::figures::FIGURES;

use crate::support::node::{Proc, ticks_stolen_at_once};
use crate::support::server::{Server, answer, hello_after};
use crate::support::{Run, is_left_out, probe, request};

/// Set if the loopback has no IPv6 address.
const NO_IPV6: &str = "WASMBENCH_NO_IPV6";

fn hello() -> Server {
    Server::start(|_, _| answer(200, "hello"))
}

#[test]
fn a_correct_service_is_measured_and_reported_in_one_line() {
    // Slow enough that its window has the requested number of requests: that of a faster server
    // lasts a second instead.
    let server = hello_after(12);
    let run = probe(&request(server.address.port()));
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    assert!(!run.progress.contains('{'), "{}", run.progress);
    let document = run.document;
    assert_eq!(document.schema, LOAD_SCHEMA);
    assert_eq!(document.failure, None);
    assert!(
        document.fortio_version.starts_with("1."),
        "{}",
        document.fortio_version
    );
    assert_eq!(document.answer_before, document.answer_after);
    assert_eq!(document.answer_before.unwrap().excerpt, "hello");
    let warmup = document.warmup.unwrap();
    assert!(warmup.requests >= 20, "{warmup:?}");
    assert!(warmup.duration_nanoseconds >= 500_000_000, "{warmup:?}");
    let timed = document.timed.unwrap();
    let answered = timed
        .runs()
        .map(|fortio| fortio["RetCodes"]["200"].as_u64());
    let requests: u64 = answered.map(Option::unwrap).sum();
    let seconds = timed.duration_nanoseconds as f64 / 1e9;
    assert_eq!(requests, 100);
    assert!(seconds >= 1.2, "{seconds} s for 100 requests of 12 ms");
    assert_eq!(timed.subject, None, "no meter was requested");
    assert!(
        document.absent["subject"].contains("meter.level"),
        "{:?}",
        document.absent
    );
    assert_eq!(
        timed.asked_nanoseconds, None,
        "requests were requested, no length"
    );
    assert!(timed.generator_cpu_nanoseconds.unwrap() > 0);
    assert!(timed.node.is_some());
    assert!(timed.probe_cpu_nanoseconds.unwrap() > 0);
    assert!(timed.start_unix_nanoseconds > 1_700_000_000_000_000_000);
    assert!(document.environment.facts.contains_key("kernel"));
    // One request before, 20 to warm up, the timed ones, one after.
    assert!(server.count() >= 22 + requests);
}

#[test]
fn a_known_latency_is_found_over_every_kind_of_connection() {
    for reuse in ["KeepAlive", "PerRequest"] {
        let server = hello_after(100);
        let mut request = request(server.address.port());
        request["connectionReuse"] = json!(reuse);
        request["connections"] = json!(2);
        request["load"] = json!({"kind": "requests", "requests": 20, "warmupRequests": 10});
        let run = Proc::quiet().probe(&request);
        assert_eq!(run.exit, Some(0), "{}", run.progress);
        // What a crowded machine adds is measured, too. The accuracy of a percentile depends on its
        // bucket, which is at most a quarter as wide as the latencies in it; `make selftest`
        // compares percentiles with every single request.
        let p50 = run.percentile(50.0);
        assert!((0.1..1.0).contains(&p50), "{reuse}: {p50}");
        assert!(run.relative_width(p50) < 0.26, "{reuse}: {p50}");
        let resolution = run.document.timed.unwrap().resolution_seconds;
        assert!((1e-4..=2.5e-2).contains(&resolution), "{resolution}");
    }
}

#[test]
fn a_window_lasts_as_long_as_requested() {
    let server = hello();
    let mut request = request(server.address.port());
    request["connections"] = json!(4);
    request["load"] = json!({"kind": "duration", "seconds": 1, "warmupSeconds": 1});
    let run = Proc::quiet().probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let warmup = run.document.warmup.unwrap();
    assert!(
        warmup.duration_nanoseconds >= 990_000_000 && warmup.requests > 0 && warmup.rps > 0.0,
        "{warmup:?}"
    );
    let timed = run.document.timed.unwrap();
    // A stall at the end makes the window longer than requested.
    let requested = match timed.runs().count() {
        1 => "1s",
        4 => "250ms",
        parts => panic!("{parts} parts"),
    };
    assert_eq!(timed.fortio["RequestedDuration"], requested);
    assert_eq!(timed.asked_nanoseconds, Some(1_000_000_000));
    let length = Duration::from_nanos(timed.duration_nanoseconds);
    assert!(length >= Duration::from_millis(990), "{length:?}");
}

#[test]
fn a_number_of_requests_sets_no_length_however_fast_the_service_is() {
    let server = hello();
    let mut request = request(server.address.port());
    request["load"] = json!({"kind": "requests", "requests": 100, "warmupRequests": 20});
    let run = Proc::quiet().probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let timed = run.document.timed.unwrap();
    let length = Duration::from_nanos(timed.duration_nanoseconds);
    assert!(length >= Duration::from_millis(990), "{length:?}");
    assert_eq!(timed.asked_nanoseconds, None);
}

#[test]
fn an_empty_warm_up_still_finds_the_buckets() {
    // Slow enough that what a crowded machine adds does not change the order of magnitude.
    let server = hello_after(40);
    let mut request = request(server.address.port());
    request["load"] = json!({"kind": "requests", "requests": 50, "warmupRequests": 0});
    let run = probe(&request);
    // And the one that opens the connection.
    assert_eq!(run.document.warmup.unwrap().requests, 51);
    let timed = run.document.timed.as_ref().unwrap();
    // Fifty requests to a server that just started reveal little about the next fifty, which may be
    // measured again.
    let offset = timed.offset_nanoseconds as f64 / 1e9;
    let (low, high) = (offset, offset + 1000.0 * timed.resolution_seconds);
    assert!((low..high).contains(&run.percentile(50.0)), "{low} {high}");
}

#[test]
fn a_window_with_latencies_of_another_size_is_measured_once_more() {
    // Slow until the warm-up is over, and then so much faster that what a crowded machine adds does
    // not cancel the difference.
    let server = Server::start(|number, _| {
        sleep(Duration::from_millis(if number > 10 { 20 } else { 300 }));
        answer(200, "hello")
    });
    let mut request = request(server.address.port());
    request["load"] = json!({"kind": "requests", "requests": 20, "warmupRequests": 10});
    let run = Proc::quiet().probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    assert_eq!(run.document.timed.as_ref().unwrap().repeats, 1);
    // A bucket is at most a quarter as wide as the latencies in it.
    let p50 = run.percentile(50.0);
    assert!((0.02..0.15).contains(&p50), "{p50}");
    assert!(run.relative_width(p50) < 0.26, "{p50}");
}

/// Measures 30 requests of 40 ms, which take longer than a second, on a node where time is stolen
/// at the requests (from 0) for which `steals` is true. Also returns the number of requests.
fn measured_once(steals: fn(u64) -> bool) -> (Run, u64) {
    let node = Proc::quiet();
    let robbed = Arc::clone(&node);
    let server = Server::start(move |number, _| {
        sleep(Duration::from_millis(40));
        if steals(number) {
            robbed.steal();
        }
        answer(200, "hello")
    });
    let mut request = request(server.address.port());
    request["load"] = json!({"kind": "requests", "requests": 30, "warmupRequests": 20});
    let run = node.probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    (run, server.count())
}

/// The first such run whose buckets fit at once: after a stall of a third of a second they do not,
/// and there is one more window.
fn measured(steals: fn(u64) -> bool) -> (Run, u64) {
    let fitted = |(run, _): &(Run, u64)| {
        let timed = run.document.timed.as_ref();
        timed.is_some_and(|timed| timed.repeats == 0)
    };
    let mut runs = (0..10).map(|_| measured_once(steals));
    let found = runs.find(fitted);
    found.unwrap_or_else(|| panic!("the buckets never fitted"))
}

/// One request to be ready, 20 to warm up, one before each run: number 35 is in the middle of the first window.
#[test]
fn a_noisy_window_is_measured_once_more_and_the_quiet_one_counts() {
    let (run, requests) = measured(|number| number == 35);
    let timed = run.document.timed.unwrap();
    assert_eq!(timed.node.unwrap().steal_nanoseconds, 0);
    let discarded = timed.discarded.unwrap();
    assert!(discarded.start_unix_nanoseconds < timed.start_unix_nanoseconds);
    assert!(discarded.steal_share.unwrap() > 0.1, "{discarded:?}");
    // Requests run one after the other and take at least 40 ms each.
    assert!((0.1..25.1).contains(&discarded.rps), "{discarded:?}");
    assert_eq!(requests, 1 + 21 + 31 + 31 + 1);
    assert!(
        run.progress.contains("the node was noisy"),
        "{}",
        run.progress
    );
}

#[test]
fn a_node_that_stays_noisy_costs_one_repeat_and_the_quieter_window_counts() {
    // Once in the first window and twenty times in the second, which may be longer.
    let (run, requests) = measured(|number| number == 35 || (56..76).contains(&number));
    let timed = run.document.timed.unwrap();
    // The kernel's ticks are 10 ms.
    let stolen = 10_000_000 * ticks_stolen_at_once();
    assert_eq!(timed.node.unwrap().steal_nanoseconds, stolen);
    let discarded = timed.discarded.unwrap();
    assert!(discarded.start_unix_nanoseconds > timed.start_unix_nanoseconds);
    assert_eq!(requests, 1 + 21 + 31 + 31 + 1);
}

#[test]
fn a_quiet_node_is_measured_once() {
    let (run, requests) = measured(|_| false);
    assert_eq!(run.document.timed.unwrap().discarded, None);
    assert_eq!(requests, 1 + 21 + 31 + 1);
}

#[test]
fn a_service_that_answers_404_and_503_while_it_starts_is_waited_for() {
    let first = OnceLock::new();
    let starting = Duration::from_secs(5);
    let server = Server::start(move |_, _| {
        let since = first.get_or_init(Instant::now).elapsed();
        let status = if since < starting / 2 {
            404
        } else if since < starting {
            503
        } else {
            200
        };
        answer(status, "hello")
    });
    let run = probe(&request(server.address.port()));
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let readiness = run.document.readiness;
    assert!(readiness.waited_microseconds >= 5_000_000, "{readiness:?}");
    assert_eq!(run.document.answer_before.unwrap().status, 200);
}

#[test]
fn the_expected_status_may_be_an_error_and_its_connections_are_kept() {
    let server = Server::start(|_, _| answer(404, "hello"));
    let mut request = request(server.address.port());
    request["expect"]["status"] = json!(404);
    let run = probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
}

/// The names of all figures below a value, as in the list.
fn names(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let name = if path == "RetCodes" { "*" } else { name };
                let dot = if path.is_empty() { "" } else { "." };
                names(value, &format!("{path}{dot}{name}"), found);
            }
        }
        Value::Array(items) => {
            for item in items {
                names(item, &format!("{path}[]"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.insert(path.to_owned());
        }
    }
}

#[test]
fn every_figure_of_the_generator_is_listed() {
    // Every third answer is another status, every seventh request has none.
    let server = Server::start(|number, head| match number {
        _ if head.contains("wasmbench-probe") => answer(200, "hello"),
        _ if number % 7 == 0 => Some(b"SSH-2.0\r\n".to_vec()),
        _ => answer(if number % 3 == 0 { 503 } else { 200 }, "hello"),
    });
    let run = probe(&request(server.address.port()));
    let timed = run.document.timed.unwrap();
    let mut printed = BTreeSet::new();
    names(&timed.fortio, "", &mut printed);
    let listed = FIGURES.iter().map(|(name, _)| (*name).to_owned());
    assert_eq!(printed, listed.collect());
}

#[test]
fn chunks_and_a_variants_prefix_are_understood() {
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5\r\nwasm:\r\n5\r\nhello\r\n0\r\n\r\n";
    let server = Server::start(|_, _| Some(chunked.to_vec()));
    let mut request = request(server.address.port());
    request["bodyPrefix"] = json!("wasm:");
    let run = probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    assert_eq!(run.document.answer_before.unwrap().body_bytes, 10);
}

#[test]
fn probe_and_generator_ask_for_the_same_path() {
    let lines = Arc::new(Mutex::new(BTreeSet::new()));
    let received = Arc::clone(&lines);
    let server = Server::start(move |_, head| {
        let line = head.lines().next().unwrap();
        received.lock().unwrap().insert(line.to_owned());
        answer(200, "hello")
    });
    let mut request = request(server.address.port());
    request["path"] = json!("/a/{uuid}/%2F/\"x\"?q=%zz&r=a+b#c");
    let run = probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let lines: Vec<_> = lines.lock().unwrap().iter().cloned().collect();
    assert_eq!(
        lines,
        ["GET /a/%7Buuid%7D/%2F/%22x%22?q=%25zz&r=a+b%23c HTTP/1.1"]
    );
}

#[test]
fn more_connections_than_requests_come_to_an_end() {
    let server = hello();
    let mut request = request(server.address.port());
    request["connections"] = json!(64);
    request["load"] = json!({"kind": "requests", "requests": 10, "warmupRequests": 3});
    let run = probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
    let answered = &run.document.timed.unwrap().fortio["RetCodes"];
    assert!(answered["200"].as_u64() >= Some(10), "{answered}");
}

#[test]
fn an_address_of_version_6_is_measured() {
    if is_left_out(NO_IPV6, "IPv6") {
        return;
    }
    let server = Server::start_at("[::1]:0", |_, _| answer(200, "hello"));
    let server = server.unwrap_or_else(|error| {
        panic!("nothing can listen at ::1: {error}; set {NO_IPV6}=1 to leave this test out")
    });
    let mut request = request(server.address.port());
    request["address"] = json!("::1");
    let run = probe(&request);
    assert_eq!(run.exit, Some(0), "{}", run.progress);
}

#[test]
fn help_and_version_are_printed() {
    for (argument, expected) in [
        ("--help", "load"),
        (
            "--version",
            concat!("wasmbench-probe ", env!("CARGO_PKG_VERSION")),
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_wasmbench-probe"))
            .arg(argument)
            .output();
        let output = output.unwrap();
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().contains(expected));
    }
}

#[test]
fn the_generators_ceiling_is_measured_on_request_and_not_at_the_subject() {
    // Slow enough that 100 requests over 2 connections take a second.
    let server = hello_after(24);
    let mut request = request(server.address.port());
    request["connections"] = json!(2);
    let without = probe(&request);
    assert_eq!(without.document.generator_ceiling, None);
    let before = server.count();

    request["calibrateGenerator"] = json!(true);
    for reuse in ["KeepAlive", "PerRequest"] {
        request["connectionReuse"] = json!(reuse);
        let run = probe(&request);
        assert_eq!(run.exit, Some(0), "{}", run.progress);
        let ceiling = run.document.generator_ceiling.unwrap();
        assert!(ceiling.rps > 0.0 && ceiling.connections >= 4, "{ceiling:?}");
        assert!(ceiling.duration_nanoseconds > 900_000_000, "{ceiling:?}");
        assert!(ceiling.generator_cpu_nanoseconds > 0, "{ceiling:?}");
        assert!(ceiling.responder_cpu_nanoseconds > 0, "{ceiling:?}");
        assert!(ceiling.cpus >= 1.0, "{ceiling:?}");
    }
    // Two trials of 122 requests, in each of which the window may be repeated twice.
    assert!(server.count() - before <= 2 * 322);
}

#[test]
fn a_subject_that_claims_an_engine_is_queried_after_the_load() {
    let server = Server::start(|number, head| match head.lines().next() {
        Some("GET /engine HTTP/1.1") => answer(
            200,
            &format!(r#"{{"engine":"wasmtime","computeRatio":1,"asked":{number}}}"#),
        ),
        _ => answer(200, "hello"),
    });
    let mut request = request(server.address.port());
    assert_eq!(probe(&request).document.engine, None);
    request["enginePath"] = json!("/engine");
    let engine = probe(&request).document.engine.unwrap();
    assert_eq!(engine["engine"], "wasmtime");
    let asked: u64 = engine["asked"].parse().unwrap();
    assert_eq!(asked, server.count() - 1, "it is queried last");

    request["enginePath"] = json!("/");
    let silent = probe(&request).document;
    assert!(silent.engine.unwrap().is_empty());
    assert_eq!(silent.failure, None);
}

#[test]
fn a_server_of_kernels_is_queried_before_and_after_each_load_for_what_its_instances_cost() {
    let server = Server::start(|number, head| match head.lines().next() {
        Some("GET /engine HTTP/1.1") => answer(
            200,
            &format!(
                r#"{{"engine":"wasmtime","calls":{number},"instanceNanoseconds":{}}}"#,
                1000 * number
            ),
        ),
        _ => answer(200, "hello"),
    });
    let mut request = request(server.address.port());
    request["enginePath"] = json!("/engine");
    let silent = probe(&request).document;
    assert_eq!(silent.timed.unwrap().instances, None, "nobody asked for it");

    request["countsInstances"] = json!(true);
    let document = probe(&request).document;
    let cost = document.timed.unwrap().instances.unwrap();
    assert!(cost.calls > 0, "{cost:?}");
    assert_eq!(cost.nanoseconds, 1000 * cost.calls);
    assert!(!document.absent.contains_key("instances"));

    request["enginePath"] = json!("/");
    let document = probe(&request).document;
    assert_eq!(document.timed.unwrap().instances, None);
    assert!(document.absent.contains_key("instances"), "it says why not");
}
