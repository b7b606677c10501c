//! A run of cold starts and another one on its node: starts are judged by their difference.

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::nodes::placement;
use wasmbench_e2e::runs;
use wasmbench_results::runs::across::{Across, CellRatio, Unjudged};

/// Name of the later run.
const LATER: &str = "again";

/// Measures `spec`, which has four trials, on the node of `earlier`, and checks how `compare` judges
/// both.
pub async fn compare_starts(client: &Client, namespace: &str, earlier: &BenchmarkRun, spec: &str) {
    let status = earlier.status.as_ref().expect("a status");
    let node = &status.node.as_ref().expect("a node").name;
    let spec = format!("{spec}{}", placement(node));
    let (later, _) = runs::measured(client, namespace, (LATER, spec.as_str()), 420, 4).await;
    let before = earlier.metadata.name.as_deref().expect("a name");
    let compare = ["wasmbench", "compare", before, LATER];
    let compared = kubectl(&[&compare[..], &["-n", namespace, "-o", "json"]].concat()).await;
    let found: Across = serde_json::from_str(&compared.stdout).expect("nothing but JSON");
    assert_eq!(found.obstacles().count(), 0, "{compared:?}");
    let ratios = found.ratios.iter();
    let starts: Vec<&CellRatio> = ratios.filter(|one| one.is_of_baseline).collect();
    // A busy machine may have left no point in one of the runs.
    let is_disturbed = [earlier, &later].into_iter().any(runs::is_disturbed);
    assert!(!starts.is_empty() || is_disturbed, "{compared:?}");
    starts.into_iter().for_each(check_difference);
}

/// What is judged of a start is by how much its difference to the baseline has changed, in
/// microseconds.
fn check_difference(start: &CellRatio) {
    let difference = start.difference.expect("starts have a difference");
    let versus = start.versus_baseline.expect("the baseline started, too");
    let away = difference.value - (versus.after - versus.before);
    // Both have five digits, of a second at most.
    assert!(away.abs() < 100.0, "{start:#?}");
    let (low, high) = difference.ends().expect("two blocks");
    assert!(low < difference.value && difference.value < high);
    match start.unjudged {
        None => assert!(start.verdict.is_some() && difference.smallest_found.is_some()),
        Some(why) => assert_eq!(why, Unjudged::Untrusted),
    }
}
