//! Failures that a workload allows: a variant that fails a known share of its requests.

use serde_json::Value;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::image;
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::found;

/// One in 500 is 0.2 percentage points; differences matter from a tenth of 1 % on.
fn spec(image: &str) -> String {
    format!(
        r"
blocks: 5
noiseFloor: false
variants:
- {{name: plain, container: {{image: '{image}', args: []}}}}
- {{name: equal, container: {{image: '{image}', args: []}}}}
- {{name: failing, container: {{image: '{image}', args: ['--fail-one-in=500']}}}}
workloads:
- {{name: compute, path: '/compute?iters=2000', maxErrorShare: '1%', expect: {{sameAcrossVariants: true}}}}
sweeps:
  throughput: {{connections: [4], durationSeconds: 2, warmupSeconds: 1}}
"
    )
}

/// The comparison of the share of a variant's requests that succeed.
fn row_of<'a>(summary: &'a Value, variant: &str) -> &'a Value {
    let all = summary["comparisons"].as_array().expect("comparisons");
    let mut shares = all.iter().filter(|one| one["metric"] == "succeeded");
    let one = shares.find(|one| one["variant"] == variant);
    one.unwrap_or_else(|| panic!("{all:?}"))
}

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_share_of_failures_that_is_allowed_is_found_and_costs_no_trial() {
    with_namespace("failures", |client, namespace| async move {
        let image = image(&client, "native").await;
        runs::create(&client, &namespace, "failures", &spec(&image)).await;
        runs::finished(&client, &namespace, "failures", 600).await;
        let report = kubectl(&[
            "wasmbench",
            "report",
            "failures",
            "-n",
            &namespace,
            "-o",
            "json",
        ])
        .await;
        let summary: Value = serde_json::from_str(&report.stdout).expect("a summary");
        let failing = row_of(&summary, "failing");
        let points = |end: &str| 100.0 * failing["difference"][end].as_f64().expect("a number");
        let (value, low, high) = (points("value"), points("low"), points("high"));
        let figure = format!("{value:.3} points ({low:.3} to {high:.3})");
        found(
            "one request in 500 fails",
            &figure,
            "-0.200 points, Smaller",
        );
        assert_eq!(failing["verdict"], "Smaller", "{failing}");
        assert!(
            (value + 0.2).abs() < 0.01 && low <= value && value <= high,
            "{failing}"
        );
        assert_eq!(row_of(&summary, "equal")["verdict"], "Equivalent");
        let cells = summary["cells"].as_array().expect("cells");
        for cell in cells {
            assert_eq!(cell["counts"]["valid"], 5, "{cell}");
            let fails = cell["variant"] == "failing";
            assert_eq!(cell["errorsByStatus"].get("500").is_some(), fails, "{cell}");
        }
        assert_eq!(cells.len(), 3);
    })
    .await;
}
