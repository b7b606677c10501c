//! How far trials scattered in earlier runs, by node. Pure.

use std::collections::BTreeMap;

use jiff::Timestamp;
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec};
use wasmbench_results::statistics::median;
use wasmbench_results::summary::power::scatter_text;

/// The label with the name of a node.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// A finished run, as far as it shows how trials scatter on its node.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    node: String,
    fingerprint: String,
    ended: Timestamp,
    /// As a share.
    scatter: f64,
}

/// Those of `runs` that are finished and show how far trials scatter.
pub fn earlier<'a>(runs: impl IntoIterator<Item = &'a BenchmarkRun>) -> Vec<Earlier> {
    let finished = runs.into_iter().filter(|run| run.is_finished());
    finished.filter_map(Earlier::from_run).collect()
}

impl Earlier {
    fn from_run(run: &BenchmarkRun) -> Option<Self> {
        let status = run.status.as_ref()?;
        let node = status.node.as_ref()?;
        Some(Self {
            node: node.name.clone(),
            fingerprint: node.fingerprint.clone()?,
            ended: status.completion_time.as_ref()?.0,
            scatter: status.power.as_ref()?.scatter?,
        })
    }
}

/// How far trials scattered on nodes with the same fingerprint.
#[derive(Clone, Debug, PartialEq)]
pub struct OnNodes {
    /// The names of the nodes.
    nodes: Vec<String>,
    /// The number of earlier runs.
    runs: usize,
    /// The median of their scatters, as a share.
    pub scatter: f64,
}

impl OnNodes {
    /// `3.4 % on bench-1 (5 runs)`.
    pub fn text(&self) -> String {
        let nodes = match self.nodes.as_slice() {
            [first, second, rest @ ..] if !rest.is_empty() => {
                format!("{first}, {second} and {} more", rest.len())
            }
            all => all.join(", "),
        };
        let runs = if self.runs == 1 { "run" } else { "runs" };
        let scatter = scatter_text(self.scatter);
        format!("{scatter} on {nodes} ({} {runs})", self.runs)
    }
}

/// How far trials scattered on the nodes that `spec` allows, as far as their names decide. A node has
/// the fingerprint of the last run on it: runs from before a new kernel do not count.
pub fn by_fingerprint(earlier: &[Earlier], spec: &BenchmarkRunSpec) -> Vec<OnNodes> {
    let placement = spec.placement.as_ref();
    let only = placement.and_then(|placement| placement.node_selector.get(HOSTNAME));
    let allowed = |run: &&Earlier| only.is_none_or(|name| *name == run.node);
    let mut latest: BTreeMap<&str, &Earlier> = BTreeMap::new();
    for run in earlier.iter().filter(allowed) {
        let known = latest.entry(&run.node).or_insert(run);
        if run.ended > known.ended {
            *known = run;
        }
    }
    let mut nodes: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, run) in latest {
        let same = nodes.entry(&run.fingerprint).or_default();
        same.push(name.to_owned());
    }
    let on_nodes = |(fingerprint, nodes): (&str, Vec<String>)| {
        let same = earlier.iter().filter(|run| run.fingerprint == fingerprint);
        let scatters: Vec<f64> = same.map(|run| run.scatter).collect();
        Some(OnNodes {
            nodes,
            runs: scatters.len(),
            scatter: median(scatters)?,
        })
    };
    nodes.into_iter().filter_map(on_nodes).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn finished(node: &str, fingerprint: &str, day: u32, scatter: Option<f64>) -> BenchmarkRun {
        let ended = format!("2026-01-{day:02}T00:00:00Z");
        let run = json!({
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
            "metadata": {"name": "fast"},
            "spec": {"variants": [], "workloads": [], "sweeps": {}},
            "status": {
                "conditions": [{
                    "type": "Finished", "status": "True", "reason": "Completed", "message": "",
                    "lastTransitionTime": ended,
                }],
                "completionTime": ended,
                "node": {"name": node, "fingerprint": fingerprint},
                "power": {"scatter": scatter, "message": ""},
            },
        });
        serde_json::from_value(run).unwrap()
    }

    fn text(runs: &[BenchmarkRun], selector: &serde_json::Value) -> Vec<String> {
        let spec: BenchmarkRunSpec = serde_json::from_value(json!({
            "variants": [], "workloads": [], "sweeps": {},
            "placement": {"nodeSelector": selector},
        }))
        .unwrap();
        let known = by_fingerprint(&earlier(runs), &spec);
        known.iter().map(OnNodes::text).collect()
    }

    #[test]
    fn a_node_scatters_as_the_median_of_the_runs_with_its_latest_fingerprint() {
        let mut goes_on = finished("bench-1", "new", 9, Some(0.5));
        goes_on.status.as_mut().unwrap().conditions.clear();
        let runs = [
            finished("bench-1", "old", 1, Some(0.2)),
            finished("bench-1", "new", 2, Some(0.034)),
            finished("bench-1", "new", 3, Some(0.09)),
            finished("bench-1", "new", 4, Some(0.03)),
            finished("bench-1", "new", 5, None),
            finished("bench-2", "other", 1, Some(0.08)),
            goes_on,
        ];
        let none = json!({});
        let both = ["3.4 % on bench-1 (3 runs)", "8 % on bench-2 (1 run)"];
        assert_eq!(text(&runs, &none), both);
        let second = json!({HOSTNAME: "bench-2"});
        assert_eq!(text(&runs, &second), both[1..]);
        assert!(text(&[], &none).is_empty());
    }

    #[test]
    fn nodes_with_the_same_fingerprint_share_their_runs() {
        let runs = [1, 2, 3, 4].map(|day| finished(&format!("n{day}"), "same", day, Some(0.05)));
        let expected = ["5 % on n1, n2 and 2 more (4 runs)"];
        assert_eq!(text(&runs, &json!({})), expected);
        // A new node of a known kind: the others show what to expect of it.
        let first = json!({HOSTNAME: "n1"});
        assert_eq!(text(&runs, &first), ["5 % on n1 (4 runs)"]);
    }
}
