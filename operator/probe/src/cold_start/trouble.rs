//! Pods not worth waiting for. A pod in, the reason out. Pure. Of a pod that somebody else has made, each container
//! counts, and one that was started again has crashed.

use k8s_openapi::api::core::v1::{ContainerStateTerminated, ContainerStatus, Pod, PodCondition};
use wasmbench_model::containers;
use wasmbench_model::quote::{log, quotation, start_of};
use wasmbench_model::waiting::{self, Hopeless, crash_remedy, not_executable};
use wasmbench_model::wire::failure::{Failure, FailureReason as Reason};

/// Why `pod` will not serve; `None` if it still may. `is_foreign` if somebody else has made it.
pub fn trouble(pod: &Pod, is_foreign: bool) -> Option<Failure> {
    let status = pod.status.as_ref()?;
    let phase = status.phase.as_deref().unwrap_or_default();
    let ended = if is_foreign {
        containers::serving(pod).find_map(foreign_ended)
    } else {
        containers::status(pod).and_then(ended)
    };
    ended
        .or_else(|| watched(pod, is_foreign).into_iter().find_map(hopeless))
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

/// The containers that may keep the pod from serving.
fn watched(pod: &Pod, is_foreign: bool) -> Vec<&ContainerStatus> {
    if is_foreign {
        containers::statuses(pod).collect()
    } else {
        containers::status(pod).into_iter().collect()
    }
}

/// What a pod that did not come up in time waits for, as a message; empty if unknown.
pub fn waits_for(pod: &Pod, is_foreign: bool) -> String {
    let waits = |container: &ContainerStatus| {
        let waiting = container.state.as_ref()?.waiting.as_ref()?;
        Some((
            waiting.reason.clone()?,
            start_of(waiting.message.as_deref()),
        ))
    };
    let from_container = watched(pod, is_foreign).into_iter().find_map(waits);
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
    Some(crash("the container", ended))
}

/// The same of one that its pod starts again.
fn foreign_ended(container: &ContainerStatus) -> Option<Failure> {
    let now = container.state.as_ref();
    let ended = now.and_then(|state| state.terminated.as_ref());
    let ended = ended.or_else(|| containers::restarted(container))?;
    Some(crash(&format!("container {}", container.name), ended))
}

fn crash(container: &str, ended: &ContainerStateTerminated) -> Failure {
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
        "{container} ended with exit code {} ({reason}){message}: {remedy}",
        ended.exit_code
    );
    failure(kind, message)
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
        let trouble = |state| trouble(&pod(&state), false);
        let crashed = trouble(json!({ "terminated": { "exitCode": 3 } })).unwrap();
        assert_eq!(crashed.reason, Reason::SubjectCrashed);
        let log = format!("{}\nwasm trap", "x".repeat(1024));
        let trapped = json!({ "terminated": { "exitCode": 134, "message": log } });
        let trapped = trouble(trapped).unwrap().message;
        assert!(trapped.contains("xx wasm trap\": see"), "{trapped}");
        let killed = json!({ "terminated": { "exitCode": 137, "reason": "OOMKilled" } });
        let killed = trouble(killed).unwrap().message;
        assert!(killed.ends_with("raise the memory limit"), "{killed}");
        let waiting = |reason: &str| trouble(json!({ "waiting": { "reason": reason } }));
        let reason = |word| waiting(word).map(|failure| failure.reason);
        assert_eq!(reason("ImagePullBackOff"), Some(Reason::ImageUnavailable));
        assert_eq!(reason("RunContainerError"), Some(Reason::SubjectNotStarted));
        assert_eq!(reason("ContainerCreating"), None);
    }

    #[test]
    fn a_late_pod_reports_what_it_waits_for() {
        let late = pod(&json!({ "waiting": { "reason": "ErrImagePull", "message": "no\nroute" } }));
        assert_eq!(waits_for(&late, false), " (ErrImagePull: \"no route\")");
        assert_eq!(waits_for(&Pod::default(), false), "");
    }

    /// A pod that somebody else has made, with an init container and one that serves.
    fn foreign(init: &serde_json::Value, shop: &serde_json::Value, restarts: i32) -> Pod {
        let status = |name: &str, state: &serde_json::Value| {
            json!({
                "name": name, "image": "a", "imageID": "", "ready": false, "restartCount": restarts,
                "state": state, "lastState": { "terminated": { "exitCode": 7 } },
            })
        };
        serde_json::from_value(json!({
            "spec": { "initContainers": [{ "name": "wait-for-db" }], "containers": [{ "name": "shop" }] },
            "status": {
                "initContainerStatuses": [status("wait-for-db", init)],
                "containerStatuses": [status("shop", shop)],
            },
        }))
        .unwrap()
    }

    #[test]
    fn any_container_of_a_foreign_pod_may_be_its_trouble() {
        let (done, waits) = (
            json!({ "terminated": { "exitCode": 0 } }),
            json!({ "waiting": { "reason": "PodInitializing" } }),
        );
        let running = json!({ "running": {} });
        let found = |init: &serde_json::Value, shop: &serde_json::Value, restarts: i32| {
            trouble(&foreign(init, shop, restarts), true)
        };
        assert_eq!(
            found(&done, &running, 0),
            None,
            "the init container is done"
        );
        let stuck = json!({ "waiting": { "reason": "ImagePullBackOff" } });
        for (init, shop) in [(&stuck, &waits), (&done, &stuck)] {
            let reason = found(init, shop, 0).map(|failure| failure.reason);
            assert_eq!(reason, Some(Reason::ImageUnavailable));
        }
        let crashed = found(&done, &json!({ "terminated": { "exitCode": 3 } }), 0).unwrap();
        assert_eq!(crashed.reason, Reason::SubjectCrashed);
        let again = found(&done, &running, 1).unwrap();
        assert_eq!(again.reason, Reason::SubjectCrashed);
        let named = "container shop ended with exit code 7";
        assert!(again.message.contains(named), "{}", again.message);
        let retries = json!({ "waiting": { "reason": "CrashLoopBackOff" } });
        let late = waits_for(&foreign(&retries, &waits, 0), true);
        assert!(late.contains("CrashLoopBackOff"), "{late}");
    }
}
