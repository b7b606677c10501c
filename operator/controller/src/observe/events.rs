//! Events of kubelets about pods, and of the Job controller about Jobs. Read once, when a pod did not
//! start: nothing is being measured then.

use k8s_openapi::api::events::v1::Event;
use kube::Api;
use kube::api::ListParams;
use wasmbench_core::plan::{POD_REFUSED, SANDBOX_FAILED, explained, refused, wants_event};
use wasmbench_model::quote::{end_of, start_of};
use wasmbench_model::wire::failure::Failure;

use crate::context::Context;

/// The most events to read. A namespace has fewer of one kind, unless something else is wrong in
/// it.
const AT_MOST: u32 = 500;

/// Adds to `failure` the event of the kubelet, if any, about the pod whose name begins with
/// `pod`. If the events cannot be read, returns `failure` unchanged.
pub async fn with_event(
    context: &Context,
    namespace: &str,
    pod: &str,
    failure: Failure,
) -> Failure {
    if !wants_event(&failure) {
        return failure;
    }
    let events = events(context, namespace, SANDBOX_FAILED, "Pod").await;
    match latest(&events, pod) {
        Some(note) => explained(failure, &end_of(Some(note))),
        None => failure,
    }
}

/// Adds to the `failure` of a probe whose Job has no pod the event of the Job controller, if any.
pub async fn why_no_pod(context: &Context, job: &str, failure: Failure) -> Failure {
    let namespace = &context.config.operator_namespace;
    let events = events(context, namespace, POD_REFUSED, "Job").await;
    match latest(&events, job) {
        // A refusal begins with its subject.
        Some(note) => refused(failure, &start_of(Some(note))),
        None => failure,
    }
}

/// The events with this reason about objects of this kind; none if they cannot be read.
async fn events(context: &Context, namespace: &str, reason: &str, kind: &str) -> Vec<Event> {
    let api: Api<Event> = Api::namespaced(context.client.clone(), namespace);
    let params = ListParams::default()
        .fields(&format!("reason={reason},regarding.kind={kind}"))
        .limit(AT_MOST);
    match api.list(&params).await {
        Ok(events) => events.items,
        Err(error) => {
            tracing::warn!(%error, namespace, "events cannot be read");
            vec![]
        }
    }
}

/// The note of the latest event about the object whose name begins with `name`.
fn latest<'a>(events: &'a [Event], name: &str) -> Option<&'a str> {
    let about = |event: &&Event| {
        let regarding = event.regarding.as_ref();
        let found = regarding.and_then(|regarding| regarding.name.as_deref());
        found.is_some_and(|found| found.starts_with(name))
    };
    let time = |event: &&Event| {
        let series = event
            .series
            .as_ref()
            .map(|series| series.last_observed_time.0);
        let last = event.deprecated_last_timestamp.as_ref().map(|time| time.0);
        series
            .or(last)
            .or(event.event_time.as_ref().map(|time| time.0))
    };
    let event = events.iter().filter(about).max_by_key(time)?;
    event.note.as_deref().filter(|note| !note.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use wasmbench_model::wire::failure::FailureReason;

    use super::*;

    fn event(pod: &str, note: &str, last: &str) -> Event {
        serde_json::from_value(json!({
            "metadata": {"name": note},
            "regarding": {"kind": "Pod", "name": pod},
            "note": note,
            "deprecatedLastTimestamp": last,
        }))
        .unwrap()
    }

    #[test]
    fn the_newest_event_of_the_pod_counts() {
        let events = [
            event("run-a-1", "newest", "2026-01-01T00:00:03Z"),
            event("run-a-0", "older", "2026-01-01T00:00:01Z"),
            event("run-b-0", "another's", "2026-01-01T00:00:09Z"),
        ];
        assert_eq!(latest(&events, "run-a"), Some("newest"));
        assert_eq!(latest(&events, "run-c"), None);
    }

    #[test]
    fn a_missing_shim_is_found_at_the_end_of_containerds_message() {
        let id = "a".repeat(64);
        let note = format!(
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to start sandbox \
             \"{id}\": failed to create containerd task: failed to start shim: failed to resolve runtime \
             path: runtime \"io.containerd.wasmbench-broken.v1\" binary not installed \
             \"containerd-shim-wasmbench-broken-v1\": file does not exist"
        );
        let events = [event("run-a", &note, "2026-01-01T00:00:01Z")];
        let note = end_of(latest(&events, "run-a"));
        let failure = Failure::new(FailureReason::StartTimedOut, "");
        let message = explained(failure, &note).message;
        assert!(
            message.starts_with("the shim is not on the node"),
            "{message}"
        );
    }
}
