//! A pod that somebody else's controller has made, as the subject of a trial: with all its containers, and
//! whether load may go to it. Pure.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use wasmbench_core::observed::{ObservedPod, PodState};
use wasmbench_core::scale::Target;
use wasmbench_model::altered::Likeness;
use wasmbench_model::containers;
use wasmbench_model::quote::end_of;

use super::convert::{observed_pod, waiting};

/// The pod of `target` as a subject on `node`, which is one of `many`. On the node's network only if that is
/// allowed.
pub fn subject(
    pod: &Pod,
    target: &Target,
    node: &str,
    many: bool,
    allows_host: bool,
) -> Option<ObservedPod> {
    let observed = observed_pod(pod)?;
    let unfit = unfit(pod, &observed, target, node, many, allows_host);
    Some(ObservedPod {
        likeness: unfit.map_or(Likeness::Unaltered, Likeness::Altered),
        state: state(pod, observed.state),
        ..observed
    })
}

/// Why no load may go to the pod, and what to do.
fn unfit(
    pod: &Pod,
    observed: &ObservedPod,
    target: &Target,
    node: &str,
    many: bool,
    allows_host: bool,
) -> Option<String> {
    let name = &observed.name;
    if many {
        return Some(format!(
            "{target} makes more pods than the desired one, {name} among them: let nothing change it \
             while it is measured"
        ));
    }
    let spec = pod.spec.as_ref()?;
    if spec.host_network == Some(true) && !allows_host {
        return Some(format!(
            "pod {name} of {target} is on the node's network, which the administrator does not allow: remove \
             hostNetwork from its template, or have hostNetwork.enabled set in the chart"
        ));
    }
    let other = observed.node.as_ref().filter(|other| *other != node)?;
    Some(format!(
        "pod {name} of {target} is on node {other}, and the run measures on {node}: pin it with a nodeSelector in \
         its template, such as kubernetes.io/hostname, or have the run fit one node only \
         (spec.placement.nodeSelector)"
    ))
}

/// How far the pod has got, with all its containers. `ours` is its state as that of a pod of ours, which is
/// right about its end.
fn state(pod: &Pod, ours: PodState) -> PodState {
    let Some(status) = &pod.status else {
        return ours;
    };
    if matches!(status.phase.as_deref(), Some("Succeeded" | "Failed")) {
        return ours;
    }
    // An init container that waits for a database fails and is started again until it is there.
    if let Some(crash) = containers::serving(pod).find_map(crash) {
        return crash;
    }
    if containers::all_run(pod) {
        return PodState::Running;
    }
    let reason = containers::statuses(pod).find_map(|one| waiting(pod, Some(one)));
    PodState::Pending(reason.or_else(|| waiting(pod, None)))
}

/// A container of a fresh pod that was started again: what is measured is not fresh any more.
fn crash(container: &ContainerStatus) -> Option<PodState> {
    let ended = containers::restarted(container)?;
    let name = &container.name;
    let message = end_of(ended.message.as_deref());
    Some(PodState::Ended {
        exit_code: Some(ended.exit_code),
        reason: ended.reason.clone().unwrap_or_else(|| "Error".into()),
        message: format!("container {name} was started again. {message}"),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn target() -> Target {
        Target {
            group: "apps".into(),
            version: "v1".into(),
            resource: "deployments".into(),
            kind: "Deployment".into(),
            name: "shop".into(),
        }
    }

    fn container(name: &str, state: &Value, restarts: i32) -> Value {
        json!({
            "name": name, "image": "a", "imageID": "", "ready": true, "restartCount": restarts, "state": state,
            "lastState": { "terminated": { "exitCode": 7, "reason": "Error" } },
        })
    }

    /// A pod on `bench-1` with two containers.
    fn pod(statuses: &[Value], host_network: bool) -> Pod {
        serde_json::from_value(json!({
            "metadata": { "name": "shop-1", "uid": "1" },
            "spec": {
                "nodeName": "bench-1", "hostNetwork": host_network,
                "containers": [{ "name": "shop" }, { "name": "proxy" }],
            },
            "status": { "phase": "Running", "containerStatuses": statuses },
        }))
        .unwrap()
    }

    fn running() -> Value {
        json!({ "running": {} })
    }

    #[test]
    fn a_pod_runs_when_all_its_containers_do() {
        let waits = json!({ "waiting": { "reason": "ImagePullBackOff" } });
        let observed = |statuses: &[Value]| {
            let pod = pod(statuses, false);
            subject(&pod, &target(), "bench-1", false, false).unwrap()
        };
        let both = [
            container("shop", &running(), 0),
            container("proxy", &running(), 0),
        ];
        assert_eq!(observed(&both).state, PodState::Running);
        let one = [
            container("shop", &running(), 0),
            container("proxy", &waits, 0),
        ];
        let state = observed(&one).state;
        let is_named =
            matches!(&state, PodState::Pending(Some(why)) if why.reason == "ImagePullBackOff");
        assert!(is_named, "{state:?}");
        assert_eq!(observed(&both[..1]).state, PodState::Pending(None));
    }

    #[test]
    fn a_container_that_was_started_again_has_crashed_and_is_named() {
        let statuses = [
            container("shop", &running(), 0),
            container("proxy", &running(), 1),
        ];
        let pod = pod(&statuses, false);
        let state = subject(&pod, &target(), "bench-1", false, false)
            .unwrap()
            .state;
        let is_named = matches!(
            &state,
            PodState::Ended { exit_code: Some(7), message, .. } if message.contains("proxy")
        );
        assert!(is_named, "{state:?}");
    }

    #[test]
    fn an_init_container_that_was_started_again_is_no_crash_unless_it_is_a_sidecar() {
        let statuses = [
            container("shop", &running(), 0),
            container("proxy", &running(), 0),
        ];
        let state = |policy: Option<&str>, state: &Value| {
            let init = json!([{ "name": "first", "restartPolicy": policy }]);
            let mut pod = pod(&statuses, false);
            pod.spec.as_mut().unwrap().init_containers = serde_json::from_value(init).unwrap();
            let init = json!([container("first", state, 1)]);
            pod.status.as_mut().unwrap().init_container_statuses =
                serde_json::from_value(init).unwrap();
            let observed = subject(&pod, &target(), "bench-1", false, false);
            observed.unwrap().state
        };
        let done = json!({ "terminated": { "exitCode": 0 } });
        assert_eq!(state(None, &done), PodState::Running);
        let crashed = state(Some("Always"), &running());
        assert!(matches!(crashed, PodState::Ended { .. }), "{crashed:?}");
    }

    #[test]
    fn no_load_goes_to_another_node_to_the_nodes_network_or_to_one_of_many() {
        let statuses = [
            container("shop", &running(), 0),
            container("proxy", &running(), 0),
        ];
        let likeness = |host: bool, node: &str, many: bool, allows_host: bool| {
            let pod = pod(&statuses, host);
            subject(&pod, &target(), node, many, allows_host)
                .unwrap()
                .likeness
        };
        assert_eq!(
            likeness(false, "bench-1", false, false),
            Likeness::Unaltered
        );
        assert_eq!(likeness(true, "bench-1", false, true), Likeness::Unaltered);
        for (found, remedy) in [
            (
                likeness(true, "bench-1", false, false),
                "hostNetwork.enabled",
            ),
            (likeness(false, "bench-2", false, false), "nodeSelector"),
            (likeness(false, "bench-1", true, false), "more pods"),
        ] {
            let is_named = matches!(&found, Likeness::Altered(text) if text.contains(remedy));
            assert!(is_named, "{found:?}");
        }
    }
}
