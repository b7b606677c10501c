//! Incomplete runs: skipped, failed and missing trials, one block, one variant.

use serde_json::{Value, json};
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::quote::{log, quotation};
use wasmbench_model::wire::record::{Outcome, Point, Record, TrialId};
use wasmbench_report::export::github::github;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::summary::failures::{skipped_points, skipped_variants};
use wasmbench_results::summary::trust::{self, Trust, trust};
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{doubt, is_embedded_hello, reasons};
use crate::results_support::{
    all_measured, failed, fortio, record, replace, run, run_with, skipped,
};

#[test]
fn a_skipped_variant_is_named_and_the_others_go_on() {
    let run = run_with(json!({
        "blocks": 5,
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "preset": "wasmtime-embedded"},
            {"name": "shim", "container": {"image": "a/b:1", "runtimeClassName": "wasmtime"}},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let mut records = all_measured(&run);
    let message = "install the RuntimeClass";
    replace(
        &mut records,
        |t| t.cell.variant == "shim",
        |t, position| {
            let outcome = match t.block {
                1 => failed("RuntimeClassNotFound", message),
                _ => skipped("RuntimeClassNotFound", message),
            };
            record(t, position, outcome, None)
        },
    );
    let summary = summarize(&run, &records);
    assert_eq!(
        summary.verdict,
        "embedded: 1.91x native's CPU per request on hello (1.90-1.93), at least 90 % more CPU; shim not \
         measured (RuntimeClassNotFound)"
    );
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
    let skipped = skipped_variants(&summary);
    assert_eq!((skipped.len(), skipped[0].message.as_str()), (1, message));
    assert_eq!(
        (summary.failures[0].failed, summary.failures[0].skipped),
        (1, 4)
    );
}

#[test]
fn every_reason_of_a_variant_is_listed_with_its_workloads() {
    let run = run();
    let mut records = all_measured(&run);
    let of = |workload: &'static str| {
        move |trial: &TrialId| trial.cell.variant == "embedded" && trial.cell.workload == workload
    };
    for (workload, reason) in [("hello", "AnswerChanged"), ("compute", "WrongAnswer")] {
        replace(&mut records, of(workload), |t, position| {
            record(t, position, failed(reason, "what it was"), None)
        });
    }
    let found = skipped_points(&summarize(&run, &records));
    let mut found: Vec<String> = found
        .iter()
        .map(|one| {
            format!(
                "{} on {}: {}",
                one.variant,
                one.workloads.join(", "),
                one.reason
            )
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "embedded on compute: WrongAnswer",
            "embedded on hello: AnswerChanged"
        ]
    );
}

#[test]
fn a_variant_that_fails_under_one_workload_is_listed_for_that_one() {
    let run = run();
    let mut records = all_measured(&run);
    let is_lost =
        |trial: &TrialId| trial.cell.variant == "native" && trial.cell.workload == "hello";
    replace(&mut records, is_lost, |t, position| {
        record(t, position, failed("NeverListened", "no answer"), None)
    });
    let summary = summarize(&run, &records);
    let found = skipped_points(&summary);
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].variant.as_str(), &found[0].workloads[..]),
        ("native", &["hello".to_owned()][..])
    );
    assert!(skipped_variants(&summary).is_empty());
    let text = github(&summary, None);
    assert!(
        text.contains("Not measured: native on hello (NeverListened): no answer"),
        "{text}"
    );
}

#[test]
fn a_crash_with_a_long_log_keeps_its_cause_and_its_remedy() {
    let run = run();
    let mut records = all_measured(&run);
    let cause = format!(
        "sqlalchemy.exc.OperationalError: {}",
        "no such host ".repeat(15)
    );
    let logged = format!("{cause}\n{}", "[INFO] Worker exiting\n".repeat(90));
    let message = format!("the container ended: {}: see why", quotation(&log(&logged)));
    replace(&mut records, is_embedded_hello, |t, position| {
        record(t, position, failed("SubjectCrashed", &message), None)
    });
    let summary = summarize(&run, &records);
    let kept = &summary.failures[0].message;
    assert!(kept.contains(cause.trim_end()), "{kept}");
    assert!(kept.ends_with(": see why"), "{kept}");
}

#[test]
fn a_run_that_measured_nothing_states_the_main_reason() {
    let run = run();
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |_| true,
        |t, position| {
            record(
                t,
                position,
                failed("NeverListened", "no answer within 60 s"),
                None,
            )
        },
    );
    let summary = summarize(&run, &records);
    assert_eq!(
        summary.verdict,
        "nothing measured: 0 trials invalid, 60 failed, 0 skipped, mostly NeverListened of \
         embedded; see report"
    );
    assert_eq!(
        (summary.trustworthy, trust(&summary)),
        (None, Trust::NoNumbers)
    );
    assert!(summary.comparisons.is_empty());
}

#[test]
fn no_records_give_a_summary_without_numbers() {
    let summary = summarize(&run(), &[]);
    assert_eq!(
        summary.verdict,
        "nothing measured yet: 0 of 60 trials recorded"
    );
    assert_eq!((summary.trials.missing, summary.trustworthy), (60, None));
    assert!(status_rows(&summary).is_empty());
}

#[test]
fn a_run_without_a_valid_point_says_how_many_trials_there_are_and_why_none_counts() {
    let run = run_with(json!({
        "blocks": 5, "noiseFloor": false,
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "preset": "wasmtime-embedded"},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"warmLatency": {}},
    }));
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |_| true,
        |t, position| record(t, position, Outcome::Measured, Some(with_count(19))),
    );
    assert_eq!(
        summarize(&run, &records).verdict,
        "no valid point: 10 of 10 trials recorded; TooFewSamples; see report"
    );
    records.pop();
    assert_eq!(
        summarize(&run, &records).verdict,
        "no valid point yet: 9 of 10 trials recorded; TooFewSamples; see report"
    );
}

#[test]
fn that_a_point_is_left_out_for_too_few_requests_is_known_before_the_end() {
    let mut first = run();
    first.spec.blocks = 2;
    let so_far = |records: &[Record]| trust::so_far(&summarize(&first, records));
    let mut records = all_measured(&first);
    assert_eq!(so_far(&records), None);
    replace(
        &mut records,
        |t| is_embedded_hello(t) && t.cell.point == Point::WarmLatency,
        |t, position| record(t, position, Outcome::Measured, Some(with_count(19))),
    );
    assert_eq!(
        so_far(&records).unwrap(),
        "Left out, TooFewSamples: p50 needs 20 requests per trial: embedded on hello (warm latency) (19). \
         What to do: raise spec.sweeps.warmLatency.requests, or do not use this percentile."
    );
}

#[test]
fn a_run_that_was_too_short_says_so_instead_of_numbers() {
    let mut run = run();
    run.spec.blocks = 1;
    let summary = summarize(&run, &all_measured(&run));
    assert_eq!(summary.verdict, "4 of 4 undecided: too few blocks");
    assert_eq!(reasons(&summary), [Reason::TooFewBlocks]);
}

#[test]
fn one_variant_is_described_by_itself() {
    let mut run = run();
    run.spec.variants.truncate(1);
    let summary = summarize(&run, &all_measured(&run));
    assert_eq!(
        summary.verdict,
        "native on hello: 12.2k requests/s at 50 connections, warm p50 163 us; native on compute: \
         3.06k requests/s at 50 connections, warm p50 654 us"
    );
}

#[test]
fn a_variant_that_failed_occasionally_is_called_flaky() {
    let run = run();
    let mut records = all_measured(&run);
    let fails = |t: &TrialId| is_embedded_hello(t) && t.block == 2;
    replace(&mut records, fails, |t, position| {
        record(t, position, failed("SubjectCrashed", "exit code 1"), None)
    });
    let line = summarize(&run, &records).verdict;
    // One block of three points.
    let flaky = "embedded is flaky: 3 of 15 trials failed (SubjectCrashed)";
    assert!(line.contains(flaky), "{line}");

    // A variant that never works under a workload is broken rather than flaky.
    let mut records = all_measured(&run);
    replace(&mut records, is_embedded_hello, |t, position| {
        record(t, position, failed("SubjectCrashed", "exit code 1"), None)
    });
    let line = summarize(&run, &records).verdict;
    assert!(!line.contains("flaky"), "{line}");
}

#[test]
fn a_baseline_without_numbers_leaves_no_comparison() {
    let run = run();
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |t| t.cell.variant == "native",
        |t, position| record(t, position, failed("SubjectCrashed", "exit code 1"), None),
    );
    let summary = summarize(&run, &records);
    assert!(
        summary.verdict.starts_with(
            "no comparison: the baseline native has no valid point; native \
                                     not measured (SubjectCrashed); embedded on hello: "
        ),
        "{}",
        summary.verdict
    );
}

#[test]
fn a_verdict_never_exceeds_220_characters() {
    let variants: Vec<_> = (0..16)
        .map(|i| json!({"name": format!("{:0>38}{i:02}", ""), "preset": "native"}))
        .collect();
    let workloads: Vec<_> = (0..4)
        .map(|i| json!({"name": format!("w{i:0>39}")}))
        .collect();
    let run = run_with(json!({
        "blocks": 5,
        "variants": variants,
        "workloads": workloads,
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let summary = summarize(&run, &all_measured(&run));
    assert!(summary.verdict.len() <= 220, "{}", summary.verdict);
    assert!(
        summary.verdict.ends_with("+59 more, see report"),
        "{}",
        summary.verdict
    );
}

#[test]
fn failed_trials_among_valid_ones_break_trust() {
    let run = run();
    let mut records = all_measured(&run);
    let last = |trial: &TrialId| is_embedded_hello(trial) && trial.block == 5;
    replace(&mut records, last, |t, position| {
        record(
            t,
            position,
            failed("SubjectLost", "the pod went away"),
            None,
        )
    });
    let summary = summarize(&run, &records);
    assert_eq!(
        reasons(&summary),
        [Reason::TrialsFailed, Reason::TooFewBlocks]
    );
    assert!(
        doubt(&summary, Reason::TrialsFailed)
            .message
            .contains("(4 of 5 valid)")
    );
    let hello = summary
        .comparisons
        .iter()
        .find(|c| c.workload == "hello")
        .unwrap();
    assert_eq!(hello.estimate.blocks, 4);
    let Trust::No { message, .. } = trust(&summary) else {
        panic!("{summary:?}");
    };
    assert!(
        message.starts_with("Of 4 primary comparisons "),
        "{message}"
    );
}

#[test]
fn missing_records_are_counted() {
    let run = run();
    let records = all_measured(&run);
    let summary = summarize(&run, &records[..50]);
    assert_eq!(
        reasons(&summary),
        [Reason::Incomplete, Reason::TooFewBlocks]
    );
    assert!(
        doubt(&summary, Reason::Incomplete)
            .message
            .contains("10 of 60")
    );
}

#[test]
fn records_of_other_runs_and_unknown_trials_are_ignored() {
    let run = run();
    let records = all_measured(&run);
    let mut with_others = records.clone();
    let mut foreign = records[0].clone();
    foreign.run_uid = "another".into();
    let mut unknown = records[0].clone();
    unknown.trial.cell.variant = "gone".into();
    let mut late = records[0].clone();
    late.trial.block = 6;
    with_others.splice(0..0, [foreign, unknown, late]);
    assert_eq!(summarize(&run, &with_others), summarize(&run, &records));
}

/// A window with this many successful requests.
fn with_count(count: u32) -> Value {
    let mut few = fortio("refused");
    few["RetCodes"] = json!({"200": count});
    few["DurationHistogram"]["Count"] = json!(count);
    few["DurationHistogram"]["Sum"] = json!(0.000_105 * f64::from(count));
    few["DurationHistogram"]["Data"] =
        json!([{"Start": 0.0001, "End": 0.00011, "Percent": 100, "Count": count}]);
    few["ErrorsDurationHistogram"] = json!({"Count": 0, "Data": null});
    few
}

#[test]
fn too_few_requests_for_a_median_invalidate_a_point_and_for_a_p90_are_noted() {
    let run = run();
    let warm = |t: &TrialId| t.cell.point == Point::WarmLatency && is_embedded_hello(t);
    let with_requests = |count: u32| {
        let mut records = all_measured(&run);
        replace(&mut records, warm, |t, position| {
            record(t, position, Outcome::Measured, Some(with_count(count)))
        });
        summarize(&run, &records)
    };
    let is_compared = |summary: &Summary| {
        let mut compared = summary.comparisons.iter();
        compared.any(|c| c.workload == "hello" && c.metric == Metric::WarmP50)
    };
    assert!(!is_compared(&with_requests(19)));
    let enough = with_requests(20);
    assert!(is_compared(&enough));
    let mut notes = enough.doubts.iter();
    assert!(notes.any(|note| {
        note.message
            .contains("p90 needs 100 requests per trial: embedded on hello (warm latency)")
    }));
}
