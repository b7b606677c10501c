//! Equals in two runs, and in one that ends when it is precise enough: equals are not called
//! different.

use kube::Client;
use serde_json::Value;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::{placement, with_own_node};
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::found;
use wasmbench_model::wire::record::{Point, Record};
use wasmbench_results::read::fortio;
use wasmbench_results::runs::across::Across;

/// Four variants including the twin, with two points each: 48 trials. Two equals have three measures at
/// each point: 12 numbers are compared.
const EQUALS: &str = r"
blocks: 6
noiseFloor: true
variants:
- {name: native, preset: native}
- {name: equal, preset: native}
- {name: another, preset: native}
workloads: [{name: hello, expect: {body: hello}}]
sweeps:
  warmLatency: {}
  throughput: {connections: [10], durationSeconds: 2, warmupSeconds: 1}
";

/// Three trials in each block, at most 90.
const PRECISE: &str = r"
blocks: 8
noiseFloor: false
precision: {maxBlocks: 30}
variants:
- {name: native, preset: native}
- {name: equal, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: hello, expect: {bodySuffix: hello}}]
sweeps:
  throughput: {connections: [10], durationSeconds: 2, warmupSeconds: 1}
";

/// The summary of a finished run.
async fn summary(namespace: &str, run: &str) -> Value {
    let report = kubectl(&["wasmbench", "report", run, "-n", namespace, "-o", "json"]).await;
    serde_json::from_str(&report.stdout).expect("a summary")
}

/// The comparisons that the run was to decide.
fn primary(summary: &Value) -> Vec<&Value> {
    let all = summary["comparisons"].as_array().expect("comparisons");
    all.iter().filter(|one| one["primary"] == true).collect()
}

/// A comparison in words: `equal, cpuPerRequest: 1.003x, Equivalent`.
fn described(comparison: &Value) -> String {
    let text = |field: &str| comparison[field].as_str().expect("a text");
    format!(
        "{}, {}: {:.3}x, {}",
        text("variant"),
        text("metric"),
        comparison["ratio"].as_f64().expect("a ratio"),
        text("verdict")
    )
}

/// Whether the comparison found a difference.
fn is_difference(comparison: &Value) -> bool {
    let verdict = comparison["verdict"].as_str().expect("a verdict");
    ["Faster", "Slower", "Smaller", "Larger"].contains(&verdict)
}

/// The shortest warm window in seconds, the fewest requests in one, and the number of windows.
fn warm_windows(records: &[Record]) -> (f64, u64, usize) {
    let warm = records
        .iter()
        .filter(|record| record.trial.cell.point == Point::WarmLatency);
    let windows: Vec<(f64, u64)> = warm
        .map(|record| {
            let document = record.load().expect("measured");
            let window = document.timed.as_ref().expect("a window");
            let (load, _) = fortio::from_window(window, 200).expect("fortio's result");
            (window.duration_nanoseconds as f64 / 1e9, load.succeeded)
        })
        .collect();
    let shortest = windows.iter().map(|window| window.0);
    let fewest = windows.iter().map(|window| window.1).min();
    (
        shortest.fold(f64::INFINITY, f64::min),
        fewest.unwrap_or_default(),
        windows.len(),
    )
}

/// A run of equals, measured and checked.
async fn check_equals(client: &Client, namespace: &str, name: &str, spec: &str) {
    runs::create(client, namespace, name, spec).await;
    let run = runs::finished(client, namespace, name, 600).await;
    let summary = summary(namespace, name).await;
    let primary = primary(&summary);
    for one in &primary {
        found(
            &format!("equals, the {name} run"),
            &described(one),
            "1.000x",
        );
    }
    let (shortest, fewest, windows) = warm_windows(&runs::records(client, &run).await);
    let figure = format!("{shortest:.3} s, {fewest} requests, of {windows} windows");
    found("the shortest warm window", &figure, "1 s, 1000 requests");

    let floors = summary["noiseFloors"].as_array().map_or(0, Vec::len);
    assert!(floors > 0, "{summary}");
    assert!(!primary.is_empty(), "{summary}");
    let is_any_different = primary.iter().any(|one| is_difference(one));
    assert!(!is_any_different, "{primary:#?}");
    assert_eq!(windows, 24);
    // The tolerance that the probe's own tests grant to clocks.
    assert!(shortest >= 0.99 && fewest >= 1000, "{figure}");
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn two_equal_runs_have_no_differences() {
    with_namespace("equal-runs", |client, namespace| async move {
        with_own_node(&client, async |node| {
            let spec = format!("{EQUALS}{}", placement(&node));
            for name in ["first", "second"] {
                check_equals(&client, &namespace, name, &spec).await;
            }
        })
        .await;
        check_comparison(&namespace).await;
    })
    .await;
}

/// Nothing is called worse, whether or not the node was too noisy to trust the runs. If it was, some
/// numbers may not be judged.
async fn check_comparison(namespace: &str) {
    let compare = ["wasmbench", "compare", "first", "second"];
    let compared = kubectl(&[&compare[..], &["-n", namespace, "-o", "json"]].concat()).await;
    let across: Across = serde_json::from_str(&compared.stdout).expect("nothing but JSON");
    let (worse, judged) = (across.worse(), across.judged());
    let figure = format!(
        "{worse} of {judged} judged numbers worse, exit code {:?}",
        compared.code
    );
    let expected = "0 of 12, exit code 0; 3 on a noisy node";
    found("two equal runs compared", &figure, expected);
    assert_eq!(worse, 0, "{compared:?}");
    match compared.code {
        Some(0) => assert_eq!(judged, 12, "{compared:?}"),
        code => assert_eq!(code, Some(3), "{compared:?}"),
    }
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_precise_run_calls_an_equal_equivalent() {
    with_namespace("precise", |client, namespace| async move {
        runs::create(&client, &namespace, "precise", PRECISE).await;
        let run = runs::finished(&client, &namespace, "precise", 600).await;
        let reached = run.status.and_then(|status| status.precision);
        let reached = reached.expect("a precision");
        let summary = summary(&namespace, "precise").await;
        let primary = primary(&summary);
        let figure = format!("{} after {} blocks", reached.outcome, reached.blocks);
        found("a precise run", &figure, "PreciseEnough, 30 blocks at most");
        for one in &primary {
            found("a precise run", &described(one), "the equal Equivalent");
        }
        if reached.outcome == "PreciseEnough" {
            let equal = primary.iter().find(|one| one["variant"] == "equal");
            let equal = equal.unwrap_or_else(|| panic!("{primary:#?}"));
            assert_eq!(equal["verdict"], "Equivalent", "{equal}");
        } else {
            assert!(reached.message.contains("budget"), "{reached:?}");
        }
    })
    .await;
}
