//! The status of the largest runs that are legal stays below 100 kB.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a broken fixture must stop the test"
)]

mod common;
mod results_support;

use jiff::Timestamp;
use results_support::{all_measured, run_with};
use serde_json::{Value, json};
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus};
use wasmbench_core::build::names;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Plan, Stage, Wake};
use wasmbench_core::results::summarize;
use wasmbench_core::status::{Conclusion, status_of};
use wasmbench_core::validate::{ValidatedRun, validate};

const LIMIT: usize = 100_000;

fn name(kind: &str, i: usize) -> String {
    format!("{kind}{i:0>39}")
}

/// The status of a run in which everything was measured.
fn status(spec: Value) -> BenchmarkRunStatus {
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
    let conclusion = Conclusion::of(&summary, record_names(&valid));
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
    let omitted = status.summary_omitted.unwrap();
    assert_eq!(status.summary.len() + omitted.rows as usize, 240);
    assert!(status.summary.len() > 150, "{omitted:?}");
    let judged = |row: &wasmbench_api::status::SummaryRow| {
        row.variant == name("v", 0) || !row.versus_baseline.is_empty()
    };
    assert!(status.summary.iter().all(judged));
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
    assert_eq!(status.summary.len(), 28);
    let told = status.summary.iter().map(|row| row.open_loop.len());
    assert!(told.clone().all(|points| points > 0), "{told:?}");
}

#[test]
fn an_ordinary_run_is_told_in_full() {
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
    assert_eq!(status.summary_omitted, None);
    assert!(bytes(&status) < LIMIT / 2, "{}", bytes(&status));
}
