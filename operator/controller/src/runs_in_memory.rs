//! What the operator keeps of each run in memory. All runs are there, even those that are years
//! old, and planning needs little of one that has ended.

use wasmbench_api::labels;

use crate::context::GuardedRun;

/// Runs per page when all are listed: memory is allocated and freed one page at a time.
pub const PAGE: u32 = 20;

/// Drops what no reconcile looks at.
pub fn slim(run: &mut GuardedRun) {
    let Ok(run) = &mut run.0 else { return };
    // Who wrote which field, and the manifest as it was applied: each can be as long as the spec.
    run.metadata.managed_fields = None;
    run.metadata.annotations = None;
    let mut kept = run.metadata.labels.take().unwrap_or_default();
    kept.retain(|key, _| key == labels::METRICS);
    run.metadata.labels = (!kept.is_empty()).then_some(kept);
    if !run.is_finished() {
        return;
    }
    // A finished run only expires; its metrics read it again.
    run.spec.variants = vec![];
    run.spec.workloads = vec![];
    if let Some(status) = &mut run.status {
        status.summary = vec![];
        status.verdict = None;
        status.next_step = None;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value, json};
    use wasmbench_api::conditions;

    use super::*;

    fn run(status: &str) -> Value {
        json!({
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
            "metadata": {
                "name": "long", "namespace": "team-a", "uid": "1",
                "annotations": { "kubectl.kubernetes.io/last-applied-configuration": "x".repeat(5000) },
                "labels": { "team": "a" },
                "managedFields": [{ "manager": "kubectl", "operation": "Apply" }],
            },
            "spec": {
                "ttlSecondsAfterFinished": 60,
                "variants": [{ "name": "mine", "container": { "image": "a:1", "args": ["x".repeat(1000)] } }],
                "workloads": [{ "name": "hello" }],
                "sweeps": { "warmLatency": {} },
            },
            "status": { "conditions": [{
                "type": conditions::FINISHED, "status": status, "reason": "Because", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }] },
        })
    }

    fn kept(status: &str) -> wasmbench_api::BenchmarkRun {
        let mut run: GuardedRun = serde_json::from_value(run(status)).unwrap();
        slim(&mut run);
        run.0.unwrap()
    }

    #[test]
    fn a_run_that_goes_on_keeps_its_spec_and_nothing_of_others() {
        let run = kept("False");
        assert_eq!(run.spec.variants.len(), 1);
        let metadata = &run.metadata;
        assert!(metadata.managed_fields.is_none() && metadata.annotations.is_none());
        assert!(metadata.labels.is_none());
    }

    #[test]
    fn a_run_keeps_the_label_that_requests_its_metrics() {
        let mut asking = run("True");
        asking["metadata"]["labels"][labels::METRICS] = json!("true");
        let mut run: GuardedRun = serde_json::from_value(asking).unwrap();
        slim(&mut run);
        let kept = run.0.unwrap().metadata.labels.unwrap();
        let wanted = BTreeMap::from([(labels::METRICS.to_owned(), "true".to_owned())]);
        assert_eq!(kept, wanted);
    }

    #[test]
    fn a_finished_run_keeps_only_what_it_needs_to_expire() {
        let run = kept("True");
        let text = serde_json::to_string(&run).unwrap();
        assert!(text.len() < 1000, "{text}");
        assert!(run.is_finished());
        assert_eq!(run.spec.ttl_seconds_after_finished, Some(60));
    }
}
