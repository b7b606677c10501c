//! The files of a report as people get them. The snapshots document the formats.

use wasmbench_api::status::{MeasuredNode, Progress};
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus, conditions};
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::record::{Outcome, Point, Record, TrialId};
use wasmbench_report::files::report_files;
use wasmbench_report::terminal::status_text;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::summary::failures::skipped_points;
use wasmbench_results::summary::next_step::next_step;
use wasmbench_results::summary::trust::{Trust, trust};

use crate::results_support::{
    add_shim, all_measured, fortio, record, replace, run, shim_cannot_start,
};

/// A run in which most went well: one point has errors, and one variant cannot run one workload.
fn mixed() -> (RunInput, Vec<Record>) {
    let mut run = run();
    run.spec.noise_floor = Some(true);
    add_shim(&mut run);
    let mut records = all_measured(&run);
    let errors = |t: &TrialId| {
        t.cell.variant == "embedded"
            && t.cell.workload == "hello"
            && t.cell.point == Point::Throughput { connections: 10 }
            && t.block == 3
    };
    replace(&mut records, errors, |t, position| {
        record(t, position, Outcome::Measured, Some(fortio("errors")))
    });
    let hostile = "no such RuntimeClass 'wasmtime' | <b>install</b> it\nor remove `shim` \u{2192} \
                   [docs](http://example.org)";
    shim_cannot_start(&mut records, hostile);
    (run, records)
}

/// The run as the operator would write it.
fn as_run(input: &RunInput, summary: &Summary) -> BenchmarkRun {
    let mut run = BenchmarkRun::new(&input.name, input.spec.clone());
    run.metadata.namespace = Some(input.namespace.clone());
    let trust = match trust(summary) {
        Trust::NoNumbers => conditions::unknown(conditions::TRUSTWORTHY, "NoNumbers", ""),
        Trust::Yes(notes) => conditions::yes(conditions::TRUSTWORTHY, "NoDoubts", notes),
        Trust::No { reason, message } => conditions::no(conditions::TRUSTWORTHY, reason, message),
    };
    run.status = Some(BenchmarkRunStatus {
        conditions: conditions::merge(&[], vec![trust], Some(1), jiff::Timestamp::UNIX_EPOCH),
        seed: Some(input.seed),
        baseline: Some(summary.baseline.clone()),
        node: Some(MeasuredNode {
            name: "bench-1".into(),
            fingerprint: summary.environment.fingerprint.clone(),
        }),
        progress: Some(Progress {
            completed_trials: 120,
            total_trials: 120,
            ..Progress::default()
        }),
        verdict: Some(summary.verdict.clone()),
        next_step: Some(next_step(summary)),
        skipped: skipped_points(summary),
        summary: status_rows(summary),
        ..BenchmarkRunStatus::default()
    });
    run
}

#[test]
fn report_md_of_a_mixed_run() {
    let (run, records) = mixed();
    insta::assert_snapshot!(report_files(&run, &records).unwrap()["report.md"]);
}

#[test]
fn summary_csv_of_a_mixed_run() {
    let (run, records) = mixed();
    insta::assert_snapshot!(report_files(&run, &records).unwrap()["summary.csv"]);
}

#[test]
fn summary_json_of_a_mixed_run() {
    let (run, records) = mixed();
    insta::assert_snapshot!(report_files(&run, &records).unwrap()["summary.json"]);
}

#[test]
fn environment_json_of_a_mixed_run() {
    let (run, records) = mixed();
    insta::assert_snapshot!(report_files(&run, &records).unwrap()["environment.json"]);
}

#[test]
fn terminal_table_of_a_mixed_run() {
    let (run, records) = mixed();
    let summary = summarize(&run, &records);
    insta::assert_snapshot!(status_text(&as_run(&run, &summary)));
}

#[test]
fn report_md_of_a_run_without_records() {
    insta::assert_snapshot!(report_files(&run(), &[]).unwrap()["report.md"]);
}
