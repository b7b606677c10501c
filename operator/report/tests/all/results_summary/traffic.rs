//! What the load generator saw: connections that end, requests without an answer, sizes, windows that
//! last longer than requested.

use serde_json::{Value, json};
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::record::{Point, Record};
use wasmbench_report::tables;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::Reason;

use super::support::doubt;
use crate::results_support::{all_measured, run};

/// A run in which the trials of `variant` on hello at 50 connections met this.
fn met(variant: &str, change: impl Fn(&mut Record), spec: impl Fn(&mut Value)) -> Summary {
    let mut run = run();
    let mut json = serde_json::to_value(&run.spec).unwrap();
    spec(&mut json);
    run.spec = serde_json::from_value(json).unwrap();
    let mut records = all_measured(&run);
    let loads = records.iter_mut().filter(|record| {
        let cell = &record.trial.cell;
        cell.variant == variant
            && cell.workload == "hello"
            && cell.point == Point::Throughput { connections: 50 }
    });
    loads.for_each(change);
    summarize(&run, &records)
}

/// The same where the generator reports `seen`.
fn with_seen(variant: &str, seen: &Value) -> Summary {
    let change = |record: &mut Record| {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        timed.fortio["Seen"] = seen.clone();
    };
    met(variant, change, |_| {})
}

fn is_raised(summary: &Summary, reason: Reason) -> bool {
    summary.doubts.iter().any(|doubt| doubt.reason == reason)
}

#[test]
fn requests_per_connection_are_shown_and_noted_where_variants_differ() {
    let kept = with_seen("embedded", &json!({"Connections": 0}));
    assert!(!is_raised(&kept, Reason::ConnectionsEnd));
    let table = |summary: &Summary| format!("{:?}", tables::points(summary, "hello"));
    assert!(!table(&kept).contains("Requests per connection"));

    // As many connections as requests, in addition to those with which the load began.
    let each = |record: &mut Record| {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        let requests = timed.fortio["RetCodes"]["200"].clone();
        timed.fortio["Seen"] = json!({"Connections": requests});
    };
    let ends = met("embedded", each, |_| {});
    let message = &doubt(&ends, Reason::ConnectionsEnd).message;
    assert!(
        message.contains("embedded on hello at 50 connections"),
        "{message}"
    );
    assert!(
        message.contains("requests per connection") && !message.contains("native"),
        "{message}"
    );
    assert!(!doubt(&ends, Reason::ConnectionsEnd).breaks_trust);
    assert!(table(&ends).contains("Requests per connection"));
    let rows = status_rows(&ends);
    let row = rows
        .iter()
        .find(|row| row.variant == "embedded" && row.workload == "hello");
    let points = &row.unwrap().throughput.as_ref().unwrap().points;
    let point = points.iter().find(|point| point.connections == 50).unwrap();
    assert_eq!(point.requests_per_connection, Some(1.0));
}

#[test]
fn variants_that_end_connections_alike_get_no_note() {
    let each = json!({"Connections": 1_000_000_000u64});
    let mut run = run();
    run.spec.noise_floor = Some(false);
    let mut records = all_measured(&run);
    for record in &mut records {
        let timed = record.load_mut().and_then(|load| load.timed.as_mut());
        timed.unwrap().fortio["Seen"] = each.clone();
    }
    let summary = summarize(&run, &records);
    assert!(!is_raised(&summary, Reason::ConnectionsEnd));
}

#[test]
fn answers_that_grow_are_noted_with_both_sizes() {
    let bytes = |min: u64, max: u64| json!({"Bytes": {"Count": 9, "Min": min, "Max": max}});
    let grown = with_seen("embedded", &bytes(5, 300_000));
    let message = &doubt(&grown, Reason::AnswersVary).message;
    assert!(
        message.contains("embedded on hello at 50 connections (5 to 300000 bytes)"),
        "{message}"
    );
    // All of them had grown before the window began.
    let grown = with_seen("embedded", &bytes(300_000, 300_000));
    let message = &doubt(&grown, Reason::AnswersVary).message;
    assert!(message.contains("to 300000 bytes"), "{message}");
    let counted = with_seen("embedded", &bytes(500, 900));
    assert!(!is_raised(&counted, Reason::AnswersVary));
}

#[test]
fn an_answer_of_another_size_is_wrong_where_all_must_be_the_same() {
    let with = |expect: Value| {
        let change = |record: &mut Record| {
            let load = record.load_mut().unwrap();
            let before = load.answer_before.as_ref().unwrap().body_bytes;
            load.timed.as_mut().unwrap().fortio["Seen"] =
                json!({"Bytes": {"Count": 9, "Min": before, "Max": before + 1}});
        };
        met("embedded", change, |spec| {
            spec["workloads"][0]["expect"] = expect.clone();
        })
    };
    let free = with(json!({"bodySuffix": "hello"}));
    assert!(!is_raised(&free, Reason::ResponseMismatch));
    let fixed = with(json!({"sameAcrossVariants": true}));
    let cell = fixed
        .cells
        .iter()
        .find(|cell| !cell.invalid_because.is_empty())
        .unwrap();
    assert_eq!(cell.place(), "embedded on hello at 50 connections");
    assert_eq!(cell.invalid_because, [Reason::ResponseMismatch]);
    let message = &doubt(&fixed, Reason::ResponseMismatch).message;
    assert!(
        message.contains("embedded on hello at 50 connections"),
        "{message}"
    );
}

#[test]
fn a_window_that_overruns_by_far_makes_its_comparison_untrusted() {
    let lasting = |seconds: u64| {
        let change = move |record: &mut Record| {
            let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
            timed.asked_nanoseconds = Some(3_000_000_000);
            timed.fortio["ActualDuration"] = json!(seconds * 1_000_000_000);
        };
        met("embedded", change, |_| {})
    };
    assert!(!is_raised(&lasting(4), Reason::WindowOverran));
    let stalled = lasting(9);
    let message = &doubt(&stalled, Reason::WindowOverran).message;
    assert!(
        message.contains("embedded on hello at 50 connections (3.0 times as long)"),
        "{message}"
    );
    let compared = stalled.comparisons.iter().find(|one| {
        one.variant == "embedded"
            && one.workload == "hello"
            && one.point == Point::Throughput { connections: 50 }
    });
    assert!(compared.unwrap().untrusted.contains(&Reason::WindowOverran));
}

#[test]
fn requests_without_an_answer_are_reported_by_kind() {
    let summary = failing(&json!({"-1": 30}), &json!({"cut": 20, "closed": 10}));
    let message = &doubt(&summary, Reason::ErrorsInLoad).message;
    assert!(
        message.contains("cut off: shorter than announced"),
        "{message}"
    );
    assert!(
        message.contains("closed without an answer") && !message.contains("-1"),
        "{message}"
    );
}

/// A run in which requests of embedded failed with these statuses, and these kinds of failures.
fn failing(statuses: &Value, kinds: &Value) -> Summary {
    let change = |record: &mut Record| {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        let fortio = &mut timed.fortio;
        let all = fortio["RetCodes"]["200"].as_u64().unwrap();
        let failed: u64 = statuses
            .as_object()
            .unwrap()
            .values()
            .filter_map(Value::as_u64)
            .sum();
        fortio["RetCodes"] = statuses.clone();
        fortio["RetCodes"]["200"] = json!(all - failed);
        fortio["Seen"] = json!({"Failures": kinds});
    };
    met("embedded", change, |_| {})
}

#[test]
fn the_advice_about_failures_follows_from_the_most_frequent_kind() {
    for (statuses, kinds, remedy) in [
        (
            json!({"503": 20, "-1": 10}),
            json!({"cut": 10}),
            "fewer connections",
        ),
        (
            json!({"503": 10, "-1": 20}),
            json!({"cut": 20}),
            "mend what the service sends",
        ),
        (
            json!({"-1": 30}),
            json!({"excess": 20, "closed": 10}),
            "mend what the service sends",
        ),
        (
            json!({"-1": 30}),
            json!({"excess": 10, "closed": 20}),
            "the subject's log",
        ),
        (json!({"-1": 30}), json!({"notConnected": 30}), "backlog"),
        (
            json!({"-1": 30}),
            json!({"noPort": 30}),
            "a limit of the load generator",
        ),
    ] {
        let summary = failing(&statuses, &kinds);
        let found = &doubt(&summary, Reason::ErrorsInLoad).remedy;
        assert!(found.contains(remedy), "{statuses} {kinds}: {found}");
        assert!(found.contains("maxErrorShare"), "{found}");
    }
}

#[test]
fn resent_requests_are_noted_from_one_in_a_hundred_on() {
    let with = |resent: u64| {
        let change = |record: &mut Record| {
            let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
            timed.fortio["RetCodes"] = json!({"200": 1000});
            timed.fortio["DurationHistogram"] = json!({"Count": 1000, "Sum": 1.0,
                "Data": [{"Start": 0.001, "End": 0.002, "Count": 1000}]});
            timed.fortio["ErrorsDurationHistogram"] = json!({"Count": 0, "Data": null});
            timed.fortio["Seen"] = json!({"Resent": resent});
        };
        met("embedded", change, |_| {})
    };
    assert!(!is_raised(&with(10), Reason::ConnectionsEnd));
    let often = with(11);
    let note = doubt(&often, Reason::ConnectionsEnd);
    assert!(
        note.message
            .contains("embedded on hello at 50 connections (")
            && !note.breaks_trust,
        "{note:?}"
    );
}
