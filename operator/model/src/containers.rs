//! Our container in a pod. A pod may have more containers than desired, in any order, so a container is
//! always chosen by name. Of a pod that somebody else has made, all containers are measured.

use k8s_openapi::api::core::v1::{
    Container, ContainerStateTerminated, ContainerStatus, Pod, PodSpec,
};
use wasmbench_api::labels;

/// The container under test.
pub const SUBJECT: &str = "subject";
/// The container that measures.
pub const PROBE: &str = "probe";
/// The container of the echo server.
pub const UPSTREAM: &str = "upstream";

/// The container of this name.
pub fn named<'a>(spec: &'a PodSpec, name: &str) -> Option<&'a Container> {
    spec.containers.iter().find(|one| one.name == name)
}

/// What the kubelet reports about our container of this pod.
pub fn status(pod: &Pod) -> Option<&ContainerStatus> {
    let name = name(pod);
    let mut all = pod.status.as_ref()?.container_statuses.iter().flatten();
    all.find(|one| one.name == name)
}

/// What the kubelet reports about all containers of this pod, init containers first.
pub fn statuses(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    pod.status.iter().flat_map(|status| {
        let init = status.init_container_statuses.iter().flatten();
        init.chain(status.container_statuses.iter().flatten())
    })
}

/// The containers that run while the pod serves: an init container does if it always restarts, as a sidecar.
pub fn that_serve(spec: &PodSpec) -> impl Iterator<Item = &Container> {
    let init = spec.init_containers.iter().flatten();
    let sidecars = init.filter(|one| one.restart_policy.as_deref() == Some("Always"));
    sidecars.chain(&spec.containers)
}

/// What the kubelet reports about the containers that run while this pod serves.
pub fn serving(pod: &Pod) -> impl Iterator<Item = &ContainerStatus> {
    let all = pod.spec.iter().flat_map(that_serve);
    let names: Vec<&str> = all.map(|one| one.name.as_str()).collect();
    statuses(pod).filter(move |one| names.contains(&one.name.as_str()))
}

/// Whether all of these run.
pub fn all_run(pod: &Pod) -> bool {
    let wanted = pod.spec.iter().flat_map(that_serve).count();
    wanted > 0 && serving(pod).filter(|one| is_running(one)).count() == wanted
}

/// Whether this container runs.
pub fn is_running(container: &ContainerStatus) -> bool {
    let state = container.state.as_ref();
    state.is_some_and(|state| state.running.is_some())
}

/// How the last run of this container ended, if it was started again: its pod is not fresh any more.
pub fn restarted(container: &ContainerStatus) -> Option<&ContainerStateTerminated> {
    let last = container.last_state.as_ref();
    let ended = last.and_then(|state| state.terminated.as_ref());
    ended.filter(|_| container.restart_count > 0)
}

/// The images of all containers that run while this pod serves, as they were resolved; `None` until all are.
pub fn image_ids(pod: &Pod) -> Option<String> {
    let ids: Vec<&str> = serving(pod).map(|one| one.image_id.as_str()).collect();
    let are_known = !ids.is_empty() && ids.iter().all(|id| !id.is_empty());
    are_known.then(|| ids.join(", "))
}

/// The name of our container, by the part that the pod plays.
fn name(pod: &Pod) -> &'static str {
    let labels = pod.metadata.labels.as_ref();
    let part = labels.and_then(|labels| labels.get(labels::COMPONENT));
    match part.map(String::as_str) {
        Some(labels::COMPONENT_PROBE) => PROBE,
        Some(labels::COMPONENT_UPSTREAM) => UPSTREAM,
        Some(_) | None => SUBJECT,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn status(name: &str, id: &str, restarts: i32) -> Value {
        json!({
            "name": name, "image": "a", "imageID": id, "ready": true, "restartCount": restarts,
            "state": { "running": {} }, "lastState": { "terminated": { "exitCode": 7 } },
        })
    }

    /// A pod that waits for its database before it serves, with a sidecar among its init containers.
    fn pod(init: &[Value], main: &[Value]) -> Pod {
        serde_json::from_value(json!({
            "spec": {
                "initContainers": [
                    { "name": "wait-for-db" }, { "name": "mesh", "restartPolicy": "Always" },
                ],
                "containers": [{ "name": "shop" }],
            },
            "status": { "initContainerStatuses": init, "containerStatuses": main },
        }))
        .unwrap()
    }

    #[test]
    fn a_sidecar_serves_although_it_is_an_init_container_and_one_that_ends_does_not() {
        let first = [
            status("wait-for-db", "sha256:0", 1),
            status("mesh", "sha256:1", 0),
        ];
        let both = pod(&first, &[status("shop", "sha256:2", 0)]);
        let names: Vec<&str> = serving(&both).map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["mesh", "shop"]);
        assert_eq!(image_ids(&both).as_deref(), Some("sha256:1, sha256:2"));
        assert!(all_run(&both));
        assert!(serving(&both).find_map(restarted).is_none());
        let without_mesh = pod(&first[..1], &[status("shop", "sha256:2", 0)]);
        assert!(!all_run(&without_mesh), "the sidecar has to run");
    }

    #[test]
    fn a_container_that_was_started_again_reports_how_it_ended_before() {
        let again = pod(&[], &[status("shop", "sha256:2", 1)]);
        let ended = serving(&again).find_map(restarted);
        assert_eq!(ended.map(|ended| ended.exit_code), Some(7));
    }

    #[test]
    fn images_are_known_once_all_are_resolved() {
        let pulls = pod(&[status("mesh", "", 0)], &[status("shop", "sha256:2", 0)]);
        assert_eq!(image_ids(&pulls), None);
        assert_eq!(image_ids(&pod(&[], &[])), None);
    }
}
