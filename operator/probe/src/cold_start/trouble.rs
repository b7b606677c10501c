//! Pods not worth waiting for. A pod in, the reason out. Pure.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod, PodCondition};
use wasmbench_model::containers;
use wasmbench_model::quote::{log, quotation, start_of};
use wasmbench_model::waiting::{self, Hopeless, crash_remedy, not_executable};
use wasmbench_model::wire::failure::{Failure, FailureReason as Reason};

/// Why `pod` will not serve; `None` if it still may.
pub fn trouble(pod: &Pod) -> Option<Failure> {
    let status = pod.status.as_ref()?;
    let container = containers::status(pod);
    let phase = status.phase.as_deref().unwrap_or_default();
    container
        .and_then(ended)
        .or_else(|| container.and_then(hopeless))
        .or_else(|| {
            // Evicted or rejected by the kubelet: no container has a state.
            matches!(phase, "Failed" | "Succeeded").then(|| {
                let reason = status.reason.as_deref().unwrap_or(phase);
                let message = quotation(&start_of(status.message.as_deref()));
                failure(
                    Reason::SubjectNotStarted,
                    format!("the pod ended ({reason}: {message}): see the node's resources"),
                )
            })
        })
}

/// What a pod that did not come up in time waits for, as a message; empty if unknown.
pub fn waits_for(pod: &Pod) -> String {
    let waiting = containers::status(pod).and_then(|c| c.state.as_ref()?.waiting.as_ref());
    let from_container =
        waiting.and_then(|w| Some((w.reason.clone()?, start_of(w.message.as_deref()))));
    let unscheduled = || {
        let found = unscheduled(pod)?;
        Some((found.reason.clone()?, start_of(found.message.as_deref())))
    };
    from_container
        .or_else(unscheduled)
        .map(|(reason, message)| format!(" ({reason}: {})", quotation(&message)))
        .unwrap_or_default()
}

/// Whether the scheduler finds no room for the pod.
pub fn is_unschedulable(pod: &Pod) -> bool {
    unscheduled(pod).is_some_and(|condition| condition.reason.as_deref() == Some("Unschedulable"))
}

fn unscheduled(pod: &Pod) -> Option<&PodCondition> {
    let mut conditions = pod.status.as_ref()?.conditions.iter().flatten();
    conditions.find(|c| c.type_ == "PodScheduled" && c.status == "False")
}

fn ended(container: &ContainerStatus) -> Option<Failure> {
    let ended = container.state.as_ref()?.terminated.as_ref()?;
    let reason = ended.reason.as_deref().unwrap_or("Error");
    let message = log(ended.message.as_deref().unwrap_or_default());
    let message = if message.is_empty() {
        message
    } else {
        format!(": {}", quotation(&message))
    };
    let (kind, remedy) = match not_executable(&message) {
        Some(remedy) => (Reason::SubjectNotStarted, remedy),
        None => (Reason::SubjectCrashed, crash_remedy(reason)),
    };
    let message = format!(
        "the container ended with exit code {} ({reason}){message}: {remedy}",
        ended.exit_code
    );
    Some(failure(kind, message))
}

fn hopeless(container: &ContainerStatus) -> Option<Failure> {
    let state = container.state.as_ref()?.waiting.as_ref()?;
    let reason = state.reason.as_deref()?;
    let message = start_of(state.message.as_deref());
    let (what, message) = waiting::hopeless(reason, &message)?;
    let reason = match what {
        Hopeless::Image => Reason::ImageUnavailable,
        Hopeless::Container => Reason::SubjectNotStarted,
    };
    Some(failure(reason, message))
}

fn failure(reason: Reason, message: String) -> Failure {
    Failure { reason, message }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(state: &serde_json::Value) -> Pod {
        serde_json::from_value(json!({ "status": { "containerStatuses": [{
            "name": "subject", "image": "a", "imageID": "", "ready": false, "restartCount": 0,
            "state": state,
        }] } }))
        .unwrap()
    }

    #[test]
    fn a_container_that_ended_or_cannot_start_is_trouble() {
        let crashed = trouble(&pod(&json!({ "terminated": { "exitCode": 3 } }))).unwrap();
        assert_eq!(crashed.reason, Reason::SubjectCrashed);
        let log = format!("{}\nwasm trap", "x".repeat(1024));
        let trapped = json!({ "terminated": { "exitCode": 134, "message": log } });
        let trapped = trouble(&pod(&trapped)).unwrap().message;
        assert!(trapped.contains("xx wasm trap\": see"), "{trapped}");
        let killed = json!({ "terminated": { "exitCode": 137, "reason": "OOMKilled" } });
        let killed = trouble(&pod(&killed)).unwrap().message;
        assert!(killed.ends_with("raise the memory limit"), "{killed}");
        let waiting = |reason: &str| trouble(&pod(&json!({ "waiting": { "reason": reason } })));
        let reason = |word| waiting(word).map(|failure| failure.reason);
        assert_eq!(reason("ImagePullBackOff"), Some(Reason::ImageUnavailable));
        assert_eq!(reason("RunContainerError"), Some(Reason::SubjectNotStarted));
        assert_eq!(reason("ContainerCreating"), None);
    }

    #[test]
    fn a_late_pod_reports_what_it_waits_for() {
        let late = pod(&json!({ "waiting": { "reason": "ErrImagePull", "message": "no\nroute" } }));
        assert_eq!(waits_for(&late), " (ErrImagePull: \"no route\")");
        assert_eq!(waits_for(&Pod::default()), "");
    }
}
