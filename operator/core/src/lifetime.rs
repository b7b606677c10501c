//! What a run's status shows about its past: since when no node fits, and how long it is kept.

use jiff::{SignedDuration, Timestamp};
use wasmbench_api::{BenchmarkRun, conditions};

use crate::config::Limits;

/// Since when no node has met the demands of a run, from its status. An operator that starts anew
/// must not begin to count again.
pub fn unmatched_since(run: &BenchmarkRun) -> Option<Timestamp> {
    let mut conditions = run.status.as_ref()?.conditions.iter();
    // `Stalled` would show it too, unless something else is in the way as well.
    let open = conditions.find(|one| {
        (&*one.type_, &*one.status, &*one.reason)
            == (
                conditions::SUCCEEDED,
                "Unknown",
                conditions::NO_MATCHING_NODE,
            )
    });
    Some(open?.last_transition_time.0)
}

/// The node that the records of a run come from, from its status: good enough for the place of
/// others in the queue.
pub fn recorded_node(run: &BenchmarkRun) -> Option<String> {
    let status = run.status.as_ref()?;
    let has_records = status.progress.as_ref()?.completed_trials > 0;
    let node = status.node.as_ref().filter(|_| has_records)?;
    Some(node.name.clone())
}

/// When a finished run is to be deleted: the earlier of the times that its author and the
/// administrator set.
pub fn expires_at(run: &BenchmarkRun, limits: &Limits) -> Option<Timestamp> {
    let (own, longest) = (
        run.spec.ttl_seconds_after_finished,
        limits.ttl_seconds_after_finished,
    );
    let seconds = own.into_iter().chain(longest).min()?;
    let finished = run.status.as_ref()?.completion_time.as_ref()?.0;
    finished
        .checked_add(SignedDuration::from_secs(i64::from(seconds)))
        .ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn run(succeeded: (&str, &str), completed: u32) -> BenchmarkRun {
        let (status, reason) = succeeded;
        let text = json!({
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
            "metadata": { "name": "a" },
            "spec": { "variants": [], "workloads": [], "sweeps": {} },
            "status": {
                "conditions": [{
                    "type": conditions::SUCCEEDED, "status": status, "reason": reason, "message": "",
                    "lastTransitionTime": "1970-01-01T00:00:07Z",
                }],
                "node": { "name": "bench-1" },
                "progress": { "completedTrials": completed, "totalTrials": 9, "text": "", "message": "" },
            },
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn the_time_without_a_node_counts_from_the_condition() {
        let since = |status, reason| unmatched_since(&run((status, reason), 0));
        let seven = Timestamp::from_second(7).unwrap();
        assert_eq!(since("Unknown", conditions::NO_MATCHING_NODE), Some(seven));
        assert_eq!(since("Unknown", "Queued"), None);
        assert_eq!(since("False", conditions::NO_MATCHING_NODE), None);
    }

    #[test]
    fn a_run_is_bound_to_a_node_only_once_it_has_records() {
        assert_eq!(recorded_node(&run(("Unknown", "Queued"), 0)), None);
        let bound = recorded_node(&run(("Unknown", "Queued"), 1));
        assert_eq!(bound.as_deref(), Some("bench-1"));
    }
}
