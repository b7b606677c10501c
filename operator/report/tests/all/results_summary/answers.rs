//! What the subjects answered, and what a wrong answer does to a point.

use serde_json::json;
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::record::{Outcome, Point, Record, TrialId};
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::doubt::{Doubt, Reason};
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{compared_on, doubt, is_embedded_hello, reasons};
use crate::results_support::{all_measured, failed, fortio, measured, record, replace, run};

#[test]
fn a_point_with_failed_requests_is_shown_but_never_ranked() {
    let run = run();
    let mut records = all_measured(&run);
    let one = |trial: &TrialId| {
        trial.cell.point == Point::Throughput { connections: 50 }
            && trial.cell.variant == "native"
            && trial.cell.workload == "hello"
            && trial.block == 2
    };
    let with_errors = |t, position| record(t, position, Outcome::Measured, Some(fortio("errors")));
    replace(&mut records, one, with_errors);
    let summary = summarize(&run, &records);
    let cell = summary.cells.iter().find(|cell| !cell.ranked).unwrap();
    assert_eq!(cell.invalid_because, [Reason::ErrorsInLoad]);
    assert_eq!(
        (cell.counts.valid, cell.counts.invalid, cell.detail.errors),
        (4, 1, 1176)
    );
    let message = doubt(&summary, Reason::ErrorsInLoad).message.clone();
    assert!(message.contains("1176 of"), "{message}");
    assert!(message.contains("failed: 1176 with 500"), "{message}");
    let hello = summary
        .comparisons
        .iter()
        .find(|c| c.metric == Metric::ThroughputRps)
        .unwrap();
    assert_eq!(
        hello.point,
        Point::Throughput { connections: 10 },
        "the knee moved to the best valid point"
    );
    assert_eq!(
        status_rows(&summary)[0]
            .throughput
            .as_ref()
            .unwrap()
            .at_connections,
        Some(10)
    );
}

/// A run in which a tenth of the requests fails in every trial of embedded at 50 connections.
fn failing_run(max_error_share: Option<&str>) -> Summary {
    let mut run = run();
    for workload in &mut run.spec.workloads {
        workload.max_error_share = max_error_share.map(str::to_owned);
    }
    let mut records = all_measured(&run);
    let failing = |trial: &TrialId| {
        trial.cell.point == Point::Throughput { connections: 50 }
            && trial.cell.variant == "embedded"
            && trial.cell.workload == "hello"
    };
    let with_errors = |t, position| record(t, position, Outcome::Measured, Some(fortio("errors")));
    replace(&mut records, failing, with_errors);
    summarize(&run, &records)
}

fn succeeded(summary: &Summary) -> Option<&Comparison> {
    let mut all = summary.comparisons.iter();
    all.find(|c| c.metric == Metric::Succeeded && c.workload == "hello")
}

#[test]
fn failures_within_the_limit_are_compared_and_noted() {
    let summary = failing_run(Some("20%"));
    let note = doubt(&summary, Reason::ErrorsInLoad);
    assert!(!note.breaks_trust, "{note:?}");
    assert!(note.message.contains("with 500"), "{note:?}");
    let found = succeeded(&summary).expect("the share that succeeded");
    let difference = found.difference.expect("in points");
    assert!((difference.value + 0.1).abs() < 0.001, "{difference:?}");
    assert_eq!(found.verdict, Verdict::Smaller, "{found:?}");
    assert!(found.verdict.is_worse(Metric::Succeeded));
    assert!(found.text().starts_with("-10 points"), "{}", found.text());
}

#[test]
fn failures_without_a_limit_or_beyond_it_leave_the_point_out() {
    for share in [Some("5%"), None] {
        let summary = failing_run(share);
        let mut cells = summary.cells.iter();
        let cell = cells
            .find(|cell| cell.detail.errors > 0)
            .expect("a failing point");
        assert_eq!(cell.invalid_because, [Reason::ErrorsInLoad], "{share:?}");
        assert_eq!(
            cell.detail.errors_by_status.keys().collect::<Vec<_>>(),
            [&500]
        );
    }
    let without = failing_run(None);
    assert_eq!(succeeded(&without), None);
}

#[test]
fn variants_that_answer_differently_are_not_compared() {
    let run = run();
    let mut records = all_measured(&run);
    for record in &mut records {
        if record.trial.cell.variant == "embedded" && record.trial.cell.workload == "compute" {
            let document = record.load_mut().unwrap();
            for answer in [&mut document.answer_before, &mut document.answer_after] {
                let answer = answer.as_mut().unwrap();
                answer.body_sha256 = "ef".repeat(32);
                answer.excerpt = "4711".into();
            }
        }
    }
    let summary = summarize(&run, &records);
    let doubt = doubt(&summary, Reason::ResponseMismatch);
    assert!(!doubt.breaks_trust, "hello is still compared");
    assert!(
        doubt.message.contains(
            "on compute, embedded answers '4711' (sha256 efefefefefef), but \
                                native answers 'compute'"
        ),
        "{}",
        doubt.message
    );
    assert_eq!(compared_on(&summary), ["hello"; 4]);
}

/// The variant puts its keys in another order.
#[test]
fn answers_that_are_json_are_compared_by_value_if_both_say_so() {
    let compared = |of_embedded: Option<&str>| {
        let run = run();
        let mut records = all_measured(&run);
        for record in &mut records {
            let is_its = record.trial.cell.variant == "embedded";
            let Some(document) = record.load_mut() else {
                continue;
            };
            for answer in [&mut document.answer_before, &mut document.answer_after] {
                let answer = answer.as_mut().unwrap();
                answer.json_sha256 = Some("11".repeat(32));
                if is_its {
                    answer.body_sha256 = "ef".repeat(32);
                    answer.json_sha256 = of_embedded.map(|one| one.repeat(32));
                }
            }
        }
        let summary = summarize(&run, &records);
        compared_on(&summary).len()
    };
    let run = run();
    let all = compared_on(&summarize(&run, &all_measured(&run))).len();
    assert_eq!(compared(Some("11")), all, "the same value");
    assert!(compared(Some("22")) < all, "another value");
    assert!(compared(None) < all, "it does not say that it is JSON");
}

#[test]
fn a_baseline_that_contradicts_itself_is_the_one_that_is_wrong() {
    let run = run();
    let mut records = all_measured(&run);
    let mut native = records
        .iter_mut()
        .filter(|r| r.trial.cell.variant == "native" && r.trial.cell.workload == "compute");
    let document = native.next().unwrap().load_mut().unwrap();
    document.answer_after.as_mut().unwrap().body_sha256 = "ef".repeat(32);
    let summary = summarize(&run, &records);
    let message = &doubt(&summary, Reason::ResponseMismatch).message;
    assert!(
        message.contains("native gave 2 different answers"),
        "{message}"
    );
}

#[test]
fn a_wrong_answer_makes_its_point_invalid() {
    let run = run();
    let mut records = all_measured(&run);
    let second = |trial: &TrialId| is_embedded_hello(trial) && trial.block == 2;
    replace(&mut records, second, |t, position| {
        record(t, position, failed("WrongAnswer", "got 'oops'"), None)
    });
    let summary = summarize(&run, &records);
    let cells = summary
        .cells
        .iter()
        .filter(|c| c.variant == "embedded" && c.workload == "hello");
    let found: Vec<_> = cells.map(|c| (c.ranked, &c.invalid_because)).collect();
    assert_eq!(found, [(false, &vec![Reason::ResponseMismatch]); 3]);
    assert!(reasons(&summary).contains(&Reason::ResponseMismatch));
    assert_eq!(compared_on(&summary), ["compute"; 4]);
}

#[test]
fn output_of_fortio_that_cannot_be_read_is_a_failed_trial() {
    let run = run();
    let mut records = all_measured(&run);
    replace(&mut records, is_embedded_hello, |t, position| {
        let mut record = measured(t, position);
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.fortio = json!({"a": 1});
        record
    });
    let summary = summarize(&run, &records);
    assert_eq!(summary.failures[0].reason, "UnreadableResult");
    assert!(summary.failures[0].message.contains("no ActualDuration"));
}

#[test]
fn a_window_without_a_single_success_is_invalid() {
    let run = run();
    let mut records = all_measured(&run);
    replace(&mut records, is_embedded_hello, |t, position| {
        let outcome = failed("NoSuccessfulRequest", "20 of 20 requests failed");
        record(t, position, outcome, Some(fortio("refused")))
    });
    let summary = summarize(&run, &records);
    assert!(reasons(&summary).contains(&Reason::ErrorsInLoad));
    assert_eq!(compared_on(&summary), ["compute"; 4]);
}

#[test]
fn answers_of_different_sizes_are_noted_with_both_sizes() {
    let note = noted_with_answers(all_measured(&run()), 50_000);
    let expected = "native answers hello with 30 bytes and embedded with 50000";
    assert_eq!(
        (note.breaks_trust, note.message.as_str()),
        (false, expected)
    );
    let note = noted_with_answers(all_measured(&run()), 60);
    assert_eq!(note.message, "missing", "a name in the answer");
}

#[test]
fn sizes_of_answers_are_noted_even_if_variants_are_not_compared() {
    let mut records = all_measured(&run());
    let with_errors = |t, position| record(t, position, Outcome::Measured, Some(fortio("errors")));
    replace(&mut records, is_embedded_hello, with_errors);
    let expected = "native answers hello with 30 bytes and embedded with 50000";
    assert_eq!(noted_with_answers(records, 50_000).message, expected);
}

/// The note when `embedded` answers with so many bytes, and all others with 30.
fn noted_with_answers(mut records: Vec<Record>, bytes: u64) -> Doubt {
    for record in &mut records {
        let is_embedded = is_embedded_hello(&record.trial);
        let document = record.load_mut().unwrap();
        let answers = [&mut document.answer_before, &mut document.answer_after];
        for answer in answers.into_iter().flatten() {
            answer.body_bytes = if is_embedded { bytes } else { 30 };
        }
    }
    doubt(&summarize(&run(), &records), Reason::UnequalAnswers)
}
