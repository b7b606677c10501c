//! Our container in a pod. A pod may have more containers than desired, in any order, so a container is
//! always chosen by name.

use k8s_openapi::api::core::v1::{Container, ContainerStatus, Pod, PodSpec};
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
