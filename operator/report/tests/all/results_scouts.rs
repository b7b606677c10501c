//! What results and reports make of what scouts saw.

use jiff::Timestamp;
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, conditions};
use wasmbench_controller::status::{Conclusion, status_of};
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Plan, Stage, Wake};
use wasmbench_core::validate::validate;
use wasmbench_model::store::entry_key;
use wasmbench_model::wire::record::{Cell, Outcome, Point, Record, TrialId};
use wasmbench_model::wire::scout::ScoutDocument;
use wasmbench_report::markdown::report_md;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{Collector, summarize};
use wasmbench_results::vocabulary::doubt::Reason;

use crate::common::{RUN, config};
use crate::results_support::{all_measured, failed, record, replace, run, skipped};

fn trial(variant: &str) -> TrialId {
    let cell = Cell {
        variant: variant.into(),
        workload: "all".into(),
        point: Point::Scout,
    };
    TrialId { cell, block: 0 }
}

/// The record of a scout that saw an answer of `hello` arrive like this, and others using so many
/// hundredths of both CPUs while nothing ran.
fn scout(
    variant: &str,
    (framing, connection): (&str, &str),
    others: u64,
    failure: &Value,
) -> Record {
    let answer = json!({
        "status": 200, "bodyBytes": 5, "bodySha256": "ab", "excerpt": "hello",
        "framing": framing, "connection": connection,
    });
    let document = json!({
        "schema": "wasmbench.dev/scout/v2", "probeVersion": "0.1.0",
        "readiness": {"waitedMicroseconds": 1, "attempts": 1},
        "workloads": [{"workload": "hello", "answers": [answer, answer], "failure": failure}],
        "idle": {
            "durationNanoseconds": 1_000_000_000, "ownNanoseconds": 0,
            "node": {"busyNanoseconds": others * 20_000_000, "stealNanoseconds": 0},
        },
        "environment": {"facts": {}},
    });
    let mut document: ScoutDocument = serde_json::from_value(document).unwrap();
    // On the same node as the loads.
    let load = &all_measured(&run())[0];
    document.environment = load.load().unwrap().environment.clone();
    Record {
        evidence: Some(document.into()),
        ..record(trial(variant), 0, Outcome::Measured, None)
    }
}

const USUAL: (&str, &str) = ("length", "kept");

fn section(summary: &Summary) -> Option<String> {
    let report = report_md(summary, usize::MAX);
    let (_, after) = report.split_once("## Before the first block\n")?;
    let end = after.find("\n## ").unwrap_or(after.len());
    Some(after[..end].to_owned())
}

#[test]
fn a_scout_that_saw_nothing_unusual_does_not_change_the_report() {
    let run = run();
    let mut records = all_measured(&run);
    let without = summarize(&run, &records);
    records.extend(["native", "embedded"].map(|name| scout(name, USUAL, 5, &Value::Null)));
    let with = summarize(&run, &records);
    assert_eq!(with.scouts.len(), 2);
    assert_eq!(with.scouts[0].others_cpu_share, Some(0.05));
    let mut rest = with.clone();
    rest.scouts.clear();
    assert!(rest == without);
    let text = |summary: &Summary| report_md(summary, usize::MAX);
    assert_eq!(text(&with), text(&without));
}

#[test]
fn the_records_of_scouts_are_read() {
    let collector = Collector::new(run());
    assert!(collector.wants(&entry_key(Point::Scout, 0)));
    assert!(!collector.wants(&entry_key(Point::Scout, 1)));
}

#[test]
fn an_answer_unlike_most_and_a_busy_node_are_listed() {
    let run = run();
    let mut records = all_measured(&run);
    records.push(scout("native", ("chunked", "kept"), 5, &Value::Null));
    let late = ("untilClose", "closed");
    records.push(scout("embedded", late, 31, &Value::Null));
    let text = section(&summarize(&run, &records)).expect("a section");
    let row = text
        .lines()
        .find(|line| line.starts_with("| embedded"))
        .unwrap_or_else(|| panic!("{text}"));
    for word in ["200", "5 B", "end of the connection", "closed, unannounced"] {
        assert!(row.contains(word), "{row}");
    }
    assert!(!text.contains("native"), "{text}");
    let busy = "before embedded: 31 % used by others";
    assert!(text.contains(busy), "{text}");
}

#[test]
fn a_scouts_failure_is_doubted_as_if_each_trial_had_failed() {
    let run = run();
    let mut records = all_measured(&run);
    let why = "expected the body 'hello', but the answer was 'goodbye'";
    let is_wrong =
        |trial: &TrialId| trial.cell.variant == "embedded" && trial.cell.workload == "hello";
    replace(&mut records, is_wrong, |trial, position| {
        record(trial, position, skipped("WrongAnswer", why), None)
    });
    let failure = json!({"reason": "WrongAnswer", "message": why});
    records.push(scout("embedded", USUAL, 5, &failure));
    let summary = summarize(&run, &records);
    let cells = summary.cells.iter();
    for cell in cells.filter(|cell| cell.is_of("embedded", "hello")) {
        assert_eq!(cell.invalid_because, [Reason::ResponseMismatch]);
    }
    let mut doubts = summary.doubts.iter();
    assert!(doubts.any(|doubt| doubt.reason == Reason::ResponseMismatch));
    assert_eq!(summary.failures[0].message, why);
    let text = section(&summary).expect("a section");
    assert!(text.contains("but the answer was"), "{text}");
}

#[test]
fn trials_that_a_failed_scout_saved_have_its_reason() {
    let run = run();
    let mut records = all_measured(&run);
    let of_embedded = |trial: &TrialId| trial.cell.variant == "embedded";
    replace(&mut records, of_embedded, |trial, position| {
        let why = skipped(
            "ImageUnavailable",
            "trial embedded/all/scout/b0 failed before",
        );
        record(trial, position + 1, why, None)
    });
    let outcome = failed("ImageUnavailable", "no such image");
    records.push(record(trial("embedded"), 0, outcome, None));
    let summary = summarize(&run, &records);
    let group = &summary.failures[0];
    assert_eq!(group.message, "no such image");
    assert_eq!((group.failed, group.skipped), (1, 30));
    assert_eq!(group.first, "embedded/all/scout/b0");
}

#[test]
fn a_run_is_complete_when_everything_but_scouts_was_measured() {
    let run: BenchmarkRun = serde_yaml::from_str(RUN).unwrap();
    let valid = validate(&run, &config()).unwrap();
    let any = crate::results_support::run();
    let mut conclusion = Conclusion::from_summary(&summarize(&any, &all_measured(&any)), vec![]);
    conclusion.measured = 36;
    let plan = Plan {
        steps: vec![],
        stage: Stage::Done,
        node: None,
        completed: valid.order.len(),
        wake: Wake::OnChange,
    };
    let (observed, now) = (Observed::default(), Timestamp::UNIX_EPOCH);
    let status = status_of(&run, &valid, &observed, &plan, Some(&conclusion), now);
    let mut conditions = status.conditions.iter();
    let succeeded = conditions
        .find(|one| one.type_ == conditions::SUCCEEDED)
        .unwrap();
    assert_eq!(succeeded.message, "all 36 trials were measured");
    let progress = status.progress.unwrap();
    assert_eq!(progress.text, "39/39");
}
