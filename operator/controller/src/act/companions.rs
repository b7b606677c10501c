//! What a probe is to read apart, as it is when it begins: the pods that belong to the experiment without being
//! measured, and the containers of a subject that somebody else has made.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use wasmbench_api::labels;
use wasmbench_core::observed::Observed;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::containers::serving;

use crate::context::Context;
use crate::error::Error;
use crate::pages::Pages;

/// The most pods that are read: each costs a few system calls at the edges of a window.
const MOST: usize = 16;

/// Uids of the running pods with the run's `companions` labels on this node, but neither of a run nor the subject;
/// `None` if the run names none.
pub async fn uids(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    subject_uid: &str,
) -> Result<Option<Vec<String>>, Error> {
    let Some(companions) = &run.spec.companions else {
        return Ok(None);
    };
    let labels = companions.match_labels.iter();
    let labels: Vec<String> = labels
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    // Without a label, every pod would be one.
    if labels.is_empty() {
        return Ok(Some(vec![]));
    }
    let api: Api<Pod> = Api::namespaced(context.client.clone(), &run.namespace);
    // Of those that only carry the labels there may be any number.
    let here = format!("spec.nodeName={node},status.phase=Running");
    let params = ListParams::default().labels(&labels.join(","));
    let mut pages = Pages::new(api, params.fields(&here));
    let mut uids = vec![];
    while uids.len() < MOST
        && let Some(page) = pages.page().await.map_err(failed)?
    {
        let found = page.iter().filter_map(|pod| uid_of(pod, node));
        uids.extend(found.filter(|uid| uid != subject_uid));
    }
    uids.truncate(MOST);
    Ok(Some(uids))
}

fn failed(source: kube::Error) -> Error {
    let what = "the companions";
    Error::Observe { what, source }
}

/// Ids of the containers of a subject that somebody else has made, by their names; `None` for one of ours.
pub async fn containers(
    context: &Context,
    run: &ValidatedRun,
    observed: &Observed,
    subject_uid: &str,
) -> Result<Option<BTreeMap<String, String>>, Error> {
    let mut foreign = observed.scaled_subjects.iter().map(|one| &one.pod);
    let Some(subject) = foreign.find(|pod| pod.uid == subject_uid) else {
        return Ok(None);
    };
    let api: Api<Pod> = Api::namespaced(context.client.clone(), &run.namespace);
    let found = api.get_opt(&subject.name).await;
    let found = found.map_err(|source| Error::Observe {
        what: "the containers of the subject",
        source,
    })?;
    Ok(Some(found.as_ref().map(ids).unwrap_or_default()))
}

/// Ids of the containers that run while a pod serves, by their names.
fn ids(pod: &Pod) -> BTreeMap<String, String> {
    // `containerd://...`
    let id = |one: &ContainerStatus| {
        let (_, id) = one.container_id.as_ref()?.split_once("://")?;
        Some((one.name.clone(), id.to_owned()))
    };
    serving(pod).filter_map(id).collect()
}

/// The uid of a pod that runs on `node` and is of no run.
fn uid_of(pod: &Pod, node: &str) -> Option<String> {
    let is_there = pod.spec.as_ref()?.node_name.as_deref() == Some(node);
    let runs = pod.status.as_ref()?.phase.as_deref() == Some("Running");
    let is_of_a_run = pod.labels().contains_key(labels::RUN_UID);
    pod.uid().filter(|_| is_there && runs && !is_of_a_run)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_companion_runs_on_the_node_and_is_of_no_run() {
        let found = |node: &str, phase: &str, label: &str| {
            let pod = json!({
                "metadata": { "name": "db", "uid": "1", "labels": { label: "x" } },
                "spec": { "nodeName": node, "containers": [] }, "status": { "phase": phase },
            });
            uid_of(&serde_json::from_value(pod).unwrap(), "bench-1").is_some()
        };
        assert!(found("bench-1", "Running", "app"));
        assert!(!found("bench-2", "Running", "app"));
        assert!(!found("bench-1", "Pending", "app"));
        assert!(!found("bench-1", "Running", labels::RUN_UID));
    }

    #[test]
    fn a_sidecar_is_read_by_its_name_although_it_is_an_init_container() {
        let status = |name: &str| {
            json!({
                "name": name, "image": "a", "imageID": "a", "ready": true, "restartCount": 0,
                "containerID": format!("containerd://id-of-{name}"),
            })
        };
        let pod = json!({
            "spec": {
                "initContainers": [{ "name": "wait" }, { "name": "mesh", "restartPolicy": "Always" }],
                "containers": [{ "name": "shop" }],
            },
            "status": {
                "initContainerStatuses": [status("wait"), status("mesh")],
                "containerStatuses": [status("shop")],
            },
        });
        let found = ids(&serde_json::from_value(pod).unwrap());
        let expected = [("mesh", "id-of-mesh"), ("shop", "id-of-shop")];
        let expected = expected.map(|(name, id)| (name.to_owned(), id.to_owned()));
        assert_eq!(found, BTreeMap::from(expected));
    }
}
