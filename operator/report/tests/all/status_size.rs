//! The status of the largest legal runs stays below 100 kB.

use jiff::Timestamp;
use serde_json::{Value, json};
use wasmbench_api::status::{
    ColdStartPoint, ColdStartRatio, ColdStartTime, JudgedRatio, SkippedVariant, SummaryRow,
};
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus};
use wasmbench_controller::status::{Conclusion, status_of};
use wasmbench_core::build::names;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Plan, Stage, Wake};
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::summary::trust::Trust;

use crate::common;
use crate::results_support::{all_measured, run_with};

const LIMIT: usize = 100_000;

fn name(kind: &str, i: usize) -> String {
    format!("{kind}{i:0>39}")
}

/// The status of a run in which everything was measured.
fn status(spec: Value) -> BenchmarkRunStatus {
    status_with(spec, |_| ())
}

/// The status of such a run if `change` is applied to its conclusion.
fn status_with(spec: Value, change: impl Fn(&mut Conclusion)) -> BenchmarkRunStatus {
    let input = run_with(spec);
    let summary = summarize(&input, &all_measured(&input));
    let mut run = BenchmarkRun::new(&input.name, input.spec);
    run.metadata.uid = Some(input.uid);
    let valid = validate(&run, &common::config()).unwrap();
    let plan = Plan {
        steps: vec![],
        stage: Stage::Done,
        node: Some("node.example.com".into()),
        completed: valid.order.len(),
        wake: Wake::OnChange,
    };
    let mut conclusion = Conclusion::from_summary(&summary, record_names(&valid));
    change(&mut conclusion);
    let now = Timestamp::UNIX_EPOCH;
    status_of(
        &run,
        &valid,
        &Observed::default(),
        &plan,
        Some(&conclusion),
        now,
    )
}

fn record_names(valid: &ValidatedRun) -> Vec<String> {
    let mut names: Vec<String> = valid
        .order
        .iter()
        .map(|trial| names::records(valid, &trial.cell, 0))
        .collect();
    names.sort();
    names.dedup();
    names
}

fn bytes(status: &BenchmarkRunStatus) -> usize {
    serde_json::to_vec(status).unwrap().len()
}

/// The rows that the status has or counts.
fn rows_of(status: &BenchmarkRunStatus) -> usize {
    status.summary.len() + status.summary_rows_omitted as usize
}

#[test]
fn most_rows_with_the_longest_names() {
    let variants: Vec<_> = (0..15)
        .map(|i| json!({"name": name("v", i), "preset": "native"}))
        .collect();
    let workloads: Vec<_> = (0..16).map(|i| json!({"name": name("w", i)})).collect();
    let status = status(json!({
        "blocks": 2,
        "noiseFloor": true,
        "variants": variants,
        "workloads": workloads,
        "sweeps": {"throughput": {"connections": [1999]}},
    }));
    assert!(bytes(&status) < LIMIT, "{}", bytes(&status));
    assert_eq!(rows_of(&status), 240);
    assert!(status.summary.len() > 60, "{}", status.summary.len());
}

#[test]
fn every_list_and_message_at_its_longest() {
    let variants: Vec<_> = (0..15)
        .map(|i| json!({"name": name("v", i), "preset": "native"}))
        .collect();
    let workloads: Vec<_> = (0..16).map(|i| json!({"name": name("w", i)})).collect();
    let expectations: Vec<_> = (0..32)
        .map(|i| {
            json!({
                "name": name("e", i), "metric": "coldStartAnswer", "variant": name("v", 1),
                "workload": name("w", i % 16), "atLeast": "-999999.999ms", "atMost": "999999.999ms",
            })
        })
        .collect();
    let spec = json!({
        "blocks": 2, "noiseFloor": true, "variants": variants, "workloads": workloads,
        "expectations": expectations,
        "sweeps": {"coldStart": {"samples": 1, "concurrency": [1]}},
    });
    // With a thousand pods per trial, few trials fill a ConfigMap, and 5000 trials fill hundreds.
    let records: Vec<String> = (0..1000).map(|i| format!("{i:r>253}")).collect();
    let status = status_with(spec, |conclusion| {
        conclusion.records.clone_from(&records);
        conclusion.skipped = (0..16)
            .map(|i| SkippedVariant {
                variant: name("v", i),
                reason: "R".repeat(64),
                message: "m".repeat(512),
                workloads: vec![],
            })
            .collect();
        conclusion.trust = Trust::No {
            reason: "SeveralDoubts",
            message: "d".repeat(8000),
        };
        conclusion.rows = rows();
    });
    assert!(bytes(&status) < LIMIT, "{}", bytes(&status));
    let passed = status.conditions.iter().find(|c| c.type_ == "Passed");
    assert_eq!(passed.unwrap().message.lines().count(), 32);
    let results = status.results.unwrap();
    assert!(results.records.len() > 50, "{}", results.records.len());
    assert_eq!(
        results.records.len() + results.records_omitted as usize,
        1000
    );
    // People read a status for its numbers.
    assert!(status.summary.len() > 40, "{}", status.summary.len());
}

/// Rows of cold starts, each with its ratios.
fn rows() -> Vec<SummaryRow> {
    let ratio = ColdStartRatio {
        judged: JudgedRatio {
            primary: true,
            ratio: 1.2346,
            low: Some(1.1235),
            high: Some(1.3457),
            bound: None,
            noise_floor: Some(1.0123),
            verdict: "Inconclusive".into(),
            untrusted: Some("NodeNoisy".into()),
            blocks: 2,
        },
        difference_microseconds: Some(123_456.789),
        difference_low_microseconds: Some(123_456.789),
        difference_high_microseconds: Some(123_456.789),
    };
    let time = ColdStartTime {
        p50_microseconds: 123_460.0,
        p90_microseconds: Some(234_570.0),
        versus_baseline: Some(ratio),
    };
    let point = ColdStartPoint {
        concurrency: 1,
        trials: 2,
        samples: 2,
        listening: Some(time.clone()),
        answer: Some(time),
        ..ColdStartPoint::default()
    };
    let row = |i: usize| SummaryRow {
        variant: name("v", i / 16),
        workload: name("w", i % 16),
        cold_start: vec![point.clone()],
        ..SummaryRow::default()
    };
    (0..240).map(row).collect()
}

#[test]
fn longest_curves() {
    let variants: Vec<_> = (0..3)
        .map(|i| json!({"name": name("v", i), "preset": "native"}))
        .collect();
    let workloads: Vec<_> = (0..2).map(|i| json!({"name": name("w", i)})).collect();
    let connections: Vec<_> = (1969..2000).collect();
    let status = status(json!({
        "blocks": 2,
        "noiseFloor": true,
        "variants": variants,
        "workloads": workloads,
        "sweeps": {"warmLatency": {}, "throughput": {"connections": connections}},
    }));
    assert!(bytes(&status) < LIMIT, "{}", bytes(&status));
    assert_eq!(status.summary.len(), 6);
    let curves = status.summary.iter().flat_map(|row| &row.throughput);
    let points: Vec<usize> = curves.map(|curve| curve.points.len()).collect();
    assert!(points.iter().all(|points| *points <= 3), "{points:?}");
}

#[test]
fn most_rates() {
    let variants: Vec<_> = (0..7)
        .map(|i| json!({"name": name("v", i), "preset": "native"}))
        .collect();
    let workloads: Vec<_> = (0..4).map(|i| json!({"name": name("w", i)})).collect();
    let status = status(json!({
        "blocks": 2,
        "noiseFloor": true,
        "variants": variants,
        "workloads": workloads,
        "sweeps": {"openLoop": {"ratesPercentOfPeak": [11, 22, 33, 44, 55, 66, 77, 88]}},
    }));
    assert!(bytes(&status) < LIMIT, "{}", bytes(&status));
    assert_eq!(rows_of(&status), 28);
    assert!(status.summary.len() > 20, "{}", status.summary.len());
    let mut rows = status.summary.iter();
    assert!(rows.all(|row| row.open_loop.len() == 8), "{status:#?}");
}

#[test]
fn an_ordinary_run_has_all_its_rows() {
    let names = ["native", "embedded", "mine", "yours"];
    let variants: Vec<_> = names
        .map(|name| json!({"name": name, "preset": "native"}))
        .into();
    let status = status(json!({
        "blocks": 10,
        "variants": variants,
        "workloads": [{"name": "hello"}, {"name": "compute"}, {"name": "proxy"}],
        "sweeps": {"warmLatency": {}, "throughput": {"connections": [1, 10, 50, 100, 200, 400]}},
    }));
    assert_eq!((status.summary.len(), status.summary_rows_omitted), (12, 0));
    assert!(bytes(&status) < LIMIT / 2, "{}", bytes(&status));
}
