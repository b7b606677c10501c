//! What the store shows, as Prometheus reads it.

use std::collections::BTreeSet;

use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_results::cells::density::DensityCell;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};

use super::family::{Family, Sample};
use super::numbers::{self, Owner};
use super::store::{Exported, MOST_SERIES_OF_ALL};

fn run() -> BenchmarkRun {
    let run: Value = json!({
        "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
        "metadata": { "name": "nightly-1", "namespace": "team-a", "uid": "1" },
        "spec": {
            "variants": [
                { "name": "native", "preset": "native" },
                { "name": "embedded", "preset": "wasmtime-embedded" },
            ],
            "workloads": [{ "name": "hello" }],
            "sweeps": { "density": {} },
        },
        "status": {
            "startTime": "2026-01-01T00:00:00Z", "completionTime": "2026-01-01T00:10:00Z",
            "conditions": [{
                "type": "Trustworthy", "status": "True", "reason": "NoDoubts", "message": "",
                "lastTransitionTime": "2026-01-01T00:10:00Z",
            }],
        },
    });
    serde_json::from_value(run).unwrap()
}

fn comparison(variant: &str) -> Value {
    json!({
        "variant": variant, "workload": "hello", "metric": "memoryPerInstance",
        "sweep": "density", "primary": true,
        "ratio": 1.5, "low": 1.25, "high": 1.75, "blocks": 3, "perBlock": [1.25, 1.5, 1.75],
        "pValue": 0.01, "adjustedPValue": 0.01, "verdict": "Larger",
    })
}

fn cell(variant: &str, bytes: f64) -> Value {
    json!({
        "variant": variant, "workload": "hello",
        "ranked": true,
        "counts": { "planned": 3, "valid": 3, "invalid": 0, "failed": 0, "skipped": 0, "missing": 0 },
        "steps": [],
        "blocks": [{ "block": 1, "instances": 2, "bytesPerInstance": bytes }],
    })
}

/// A summary with these comparisons.
fn summary(comparisons: &[Value]) -> Summary {
    let mut summary = summarize(&RunInput::new(&run(), 1), &[]);
    summary.doubts = vec![];
    let comparisons = comparisons
        .iter()
        .cloned()
        .map(serde_json::from_value::<Comparison>);
    summary.comparisons = comparisons.collect::<Result<_, _>>().unwrap();
    let cells = [cell("native", 1000.0), cell("embedded", 1500.0)].into_iter();
    summary.density = cells
        .map(serde_json::from_value::<DensityCell>)
        .collect::<Result<_, _>>()
        .unwrap();
    summary
}

fn owner(kind: &'static str) -> Owner {
    Owner {
        namespace: "team-a".into(),
        kind,
        name: "nightly".into(),
    }
}

/// The series that counts what is left out.
const LEFT_OUT: &str = "wasmbench_runs_left_out ";

fn text(exported: &Exported) -> String {
    let mut registry = Registry::with_prefix("wasmbench");
    registry.register_collector(Box::new(exported.clone()));
    let mut text = String::new();
    encode(&mut text, &registry).unwrap();
    text
}

/// The series of runs and schedules in `/metrics`, without their descriptions.
fn series(exported: &Exported) -> Vec<String> {
    let text = text(exported);
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let of_results = lines.filter(|line| !line.starts_with(LEFT_OUT));
    of_results.map(str::to_owned).collect()
}

fn of_run(comparisons: &[Value]) -> Vec<Sample> {
    numbers::samples(&owner("run"), &run(), Some(&summary(comparisons)))
}

#[test]
fn a_run_with_two_variants_shows_ratio_interval_and_both_numbers() {
    let exported = Exported::default();
    exported.show_run("1", of_run(&[comparison("embedded")]));
    let series_of = |name: &str, variant: &str, value: &str| {
        format!(
            "wasmbench_{name}{{namespace=\"team-a\",run=\"nightly\",variant=\"{variant}\",\
             workload=\"hello\",point=\"density\",measure=\"memoryPerInstance\"}} {value}"
        )
    };
    let whole = "{namespace=\"team-a\",run=\"nightly\"}";
    let wanted = [
        series_of("run_ratio", "embedded", "1.5"),
        series_of("run_ratio_lower", "embedded", "1.25"),
        series_of("run_ratio_upper", "embedded", "1.75"),
        series_of("run_measured_bytes", "embedded", "1500.0"),
        series_of("run_measured_bytes", "native", "1000.0"),
        format!("wasmbench_run_trustworthy{whole} 1.0"),
        format!("wasmbench_run_duration_seconds{whole} 600.0"),
    ];
    assert_eq!(series(&exported), wanted);
}

#[test]
fn a_start_is_shown_by_its_difference_in_seconds() {
    let mut start = comparison("embedded");
    start["metric"] = "coldStartListening".into();
    start["sweep"] = "coldStart".into();
    start["concurrency"] = 1.into();
    start["difference"] =
        json!({ "value": 120_000.0, "low": 110_000.0, "high": 130_000.0, "smallest": 10_000.0 });
    let exported = Exported::default();
    exported.show_run("1", of_run(&[start]));
    let text = series(&exported).join("\n");
    for (name, value) in [
        ("run_difference_seconds", "0.12"),
        ("run_difference_lower_seconds", "0.11"),
        ("run_difference_upper_seconds", "0.13"),
    ] {
        let line = text.lines().find(|line| line.contains(name)).unwrap();
        assert!(line.ends_with(&format!("}} {value}")), "{line}");
    }
    assert!(!text.contains("run_ratio"), "{text}");
}

#[test]
fn secondary_doubted_and_foreign_comparisons_are_not_shown() {
    let whole = of_run(&[]);
    let mut secondary = comparison("embedded");
    secondary["primary"] = false.into();
    let mut untrusted = comparison("embedded");
    untrusted["untrusted"] = json!(["NodeNoisy"]);
    for one in [secondary, untrusted, comparison("stranger")] {
        assert_eq!(of_run(std::slice::from_ref(&one)), whole, "{one}");
    }
}

#[test]
fn series_disappear_with_their_run_and_their_schedule() {
    let uids = |uids: &[&str]| -> BTreeSet<String> { uids.iter().map(|&uid| uid.into()).collect() };
    let exported = Exported::default();
    let samples = of_run(&[comparison("embedded")]);
    exported.show_run("1", samples.clone());
    exported.show_schedule("9", None, vec![]);
    exported.show_latest("9", Some(("2".into(), samples.clone())));
    let all = 2 * samples.len();
    exported.keep_only(None, None);
    assert_eq!(series(&exported).len(), all);
    exported.keep_only(Some(&uids(&["2"])), Some(&uids(&["9"])));
    assert_eq!(series(&exported).len(), samples.len());
    assert!(exported.has_latest("9", "2") && !exported.has_run("1"));
    exported.keep_only(Some(&uids(&[])), Some(&uids(&["9"])));
    assert!(series(&exported).is_empty());
    exported.show_latest("9", Some(("2".into(), samples)));
    exported.keep_only(Some(&uids(&["2"])), Some(&uids(&[])));
    assert!(series(&exported).is_empty());
}

#[test]
fn quotes_in_a_label_value_are_escaped() {
    let exported = Exported::default();
    let quoted = Owner {
        name: "a\"b\\c\n".into(),
        ..owner("run")
    };
    exported.show_run("1", vec![quoted.sample(Family::Duration, [], 1.0)]);
    let wanted = r#"wasmbench_run_duration_seconds{namespace="team-a",run="a\"b\\c\n"} 1.0"#;
    assert_eq!(series(&exported), [wanted]);
}

#[test]
fn the_number_of_series_of_a_run_is_limited() {
    let exported = Exported::default();
    let many = vec![comparison("embedded"); 200];
    exported.show_run("1", numbers::bounded("many", of_run(&many)));
    assert_eq!(series(&exported).len(), numbers::MOST_SERIES);
}

#[test]
fn the_series_of_all_runs_are_limited_and_those_left_out_are_counted() {
    let exported = Exported::default();
    let comparisons = vec![comparison("embedded"); 200];
    let many = numbers::bounded("many", of_run(&comparisons));
    let room = MOST_SERIES_OF_ALL / many.len();
    exported.show_schedule("nightly", None, vec![]);
    assert!(exported.show_latest("nightly", Some(("latest".into(), many.clone()))));
    for run in 1..room {
        assert!(exported.show_run(&run.to_string(), many.clone()), "{run}");
    }
    let left_out = || {
        let text = text(&exported);
        let value = text.lines().find_map(|line| line.strip_prefix(LEFT_OUT));
        value.unwrap().to_owned()
    };
    assert_eq!(left_out(), "0");
    // What is shown may be replaced; there is no room for more.
    assert!(exported.show_run("1", many.clone()));
    assert!(exported.show_latest("nightly", Some(("latest".into(), many.clone()))));
    for run in ["one", "two"] {
        assert!(!exported.show_run(run, many.clone()));
    }
    assert_eq!(left_out(), "2");
    assert!(!exported.has_run("one"));
    exported.forget_run("1");
    assert!(exported.show_run("one", many));
    assert_eq!(left_out(), "1");
    exported.keep_only(Some(&BTreeSet::new()), None);
    assert_eq!(left_out(), "0");
}
