//! What the API and the probe report about a subject and its node.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{Api, ResourceExt};
use wasmbench_api::owner::template_of;
use wasmbench_core::build::names;
use wasmbench_core::build::subject_pod::desired_subject;
use wasmbench_core::observed::PodState;
use wasmbench_core::scale::Target;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::wire::addition::Addition;
use wasmbench_model::wire::cold_start::templates;
use wasmbench_model::wire::evidence::Evidence;
use wasmbench_model::wire::record::{SubjectFacts, TrialId};
use wasmbench_model::{altered, containers};

use crate::act::on_node::OnNode;
use crate::error::Error;
use crate::observe::{foreign_subject, observed_pod};
use crate::remove::failed;

/// The last pod that a probe created.
pub(super) struct LastPod {
    name: String,
    image_id: Option<String>,
    template: Option<String>,
    added: Vec<Addition>,
}

pub(super) fn last_pod(
    run: &ValidatedRun,
    trial: &TrialId,
    evidence: &Evidence,
) -> Option<LastPod> {
    match evidence {
        Evidence::Load(_) | Evidence::Scout(_) => None,
        Evidence::ColdStart(document) => {
            let last = document
                .samples
                .iter()
                .flat_map(|sample| &sample.pods)
                .last();
            last.map(|pod| LastPod {
                name: pod.pod.clone(),
                image_id: pod.image_id.clone(),
                // One that changed between two samples counts as well.
                template: templates(document.samples.iter().flat_map(|sample| &sample.pods)),
                added: document.added.clone(),
            })
        }
        Evidence::Density(document) => Some(LastPod {
            name: names::cold_subject(run, trial),
            image_id: document.image_id.clone(),
            template: document.template.clone(),
            added: document.added.clone(),
        }),
    }
}

/// Facts about subjects that the probe created and that are already gone: their node, and the last
/// subject as the probe saw it.
pub(super) async fn subject_of_probe(
    here: OnNode<'_>,
    trial: &TrialId,
    last: Option<LastPod>,
) -> Result<Option<SubjectFacts>, Error> {
    let OnNode { context, run, node } = here;
    let Some(last) = last else {
        return Ok(None);
    };
    let nodes: Api<Node> = Api::all(context.client.clone());
    let found = nodes
        .get_opt(node)
        .await
        .map_err(failed("look at the node"))?;
    let variant = run.variant(trial);
    let image = variant.map(|v| v.subject.image.clone()).unwrap_or_default();
    Ok(Some(SubjectFacts {
        pod: last.name,
        pod_uid: String::new(),
        node: node.to_owned(),
        image_bytes: image_bytes(found.as_ref(), &image, last.image_id.as_deref()),
        image,
        image_id: last.image_id,
        runtime_class: variant.and_then(|v| v.subject.runtime_class.clone()),
        template: last.template,
        added: last.added,
        node_facts: found.as_ref().map(node_facts).unwrap_or_default(),
    }))
}

/// Bytes of an image by the node's status, which names it by tag and by digest.
fn image_bytes(node: Option<&Node>, image: &str, image_id: Option<&str>) -> Option<u64> {
    let images = node?.status.as_ref()?.images.iter().flatten();
    let digest = |name: &str| name.split_once('@').map(|(_, digest)| digest.to_owned());
    let wanted = image_id.and_then(digest);
    let is_it = |name: &String| {
        let by_digest = wanted.is_some() && digest(name) == wanted;
        by_digest || name == image
    };
    let mut found = images.filter(|one| one.names.iter().flatten().any(is_it));
    u64::try_from(found.next()?.size_bytes?).ok()
}

/// What the API reports about the subject and its node.
pub(super) async fn subject(
    here: OnNode<'_>,
    trial: &TrialId,
    pod: Option<&str>,
) -> Result<Option<(SubjectFacts, PodState)>, Error> {
    let OnNode { context, run, node } = here;
    let Some(name) = pod else { return Ok(None) };
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), &run.namespace);
    let nodes: Api<Node> = Api::all(context.client.clone());
    let (pod, node) = futures::try_join!(pods.get_opt(name), nodes.get_opt(node))
        .map_err(failed("look at the subject"))?;
    let Some(pod) = pod else { return Ok(None) };
    let target = run.variant(trial).and_then(|v| v.subject.target.as_ref());
    if let Some(target) = target {
        let allows_host = context.config.host_network;
        return Ok(of_foreign(target, &pod, node.as_ref(), allows_host));
    }
    let Some(observed) = observed_pod(&pod) else {
        return Ok(None);
    };
    let image_id = containers::status(&pod).map(|c| c.image_id.clone());
    let node_name = node.as_ref().map(ResourceExt::name_any).unwrap_or_default();
    let desired = desired_subject(run, trial, &node_name).and_then(|desired| desired.spec);
    let added = desired.and_then(|desired| altered::compare(&desired, &pod).ok());
    let variant = run.variant(trial);
    let image = variant.map(|v| v.subject.image.clone()).unwrap_or_default();
    let image_id = image_id.filter(|id| !id.is_empty());
    let facts = SubjectFacts {
        pod: observed.name,
        pod_uid: observed.uid,
        node: node_name,
        image_bytes: image_bytes(node.as_ref(), &image, image_id.as_deref()),
        image,
        image_id,
        runtime_class: variant.and_then(|v| v.subject.runtime_class.clone()),
        template: None,
        added: added.unwrap_or_default(),
        node_facts: node.as_ref().map(node_facts).unwrap_or_default(),
    };
    Ok(Some((facts, observed.state)))
}

/// The same of a pod that somebody else's controller has made, with the images of all containers that serve.
fn of_foreign(
    target: &Target,
    pod: &Pod,
    node: Option<&Node>,
    allows_host: bool,
) -> Option<(SubjectFacts, PodState)> {
    let node_name = node.map(ResourceExt::name_any).unwrap_or_default();
    let observed = foreign_subject(pod, target, &node_name, false, allows_host)?;
    let spec = pod.spec.as_ref();
    let all = spec.into_iter().flat_map(containers::that_serve);
    let images: Vec<&str> = all.filter_map(|one| one.image.as_deref()).collect();
    let (image, image_id) = (images.join(", "), containers::image_ids(pod));
    let facts = SubjectFacts {
        pod: observed.name,
        pod_uid: observed.uid,
        node: node_name,
        image_bytes: image_bytes(node, &image, image_id.as_deref()),
        image,
        image_id,
        runtime_class: spec.and_then(|spec| spec.runtime_class_name.clone()),
        template: template_of(&pod.metadata).map(str::to_owned),
        added: vec![],
        node_facts: node.map(node_facts).unwrap_or_default(),
    };
    Some((facts, observed.state))
}

fn node_facts(node: &Node) -> BTreeMap<String, String> {
    let Some(info) = node.status.as_ref().and_then(|s| s.node_info.as_ref()) else {
        return BTreeMap::new();
    };
    let provider = node
        .spec
        .as_ref()
        .and_then(|spec| provider(spec.provider_id.as_deref()?));
    let facts = [
        ("architecture", &info.architecture),
        ("containerRuntime", &info.container_runtime_version),
        ("kernel", &info.kernel_version),
        ("kubelet", &info.kubelet_version),
        ("osImage", &info.os_image),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value.clone()));
    let provider = provider.map(|name| ("provider".to_owned(), name));
    facts.chain(provider).collect()
}

/// The provider of the node, such as `kind`, `aws` or `gce`. The rest of the id is specific to the
/// node.
fn provider(id: &str) -> Option<String> {
    let (name, _) = id.split_once("://")?;
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_nodes_status_has_the_size_of_an_image_by_its_digest_or_its_tag() {
        let node: Node = serde_json::from_value(json!({
            "metadata": {"name": "a"},
            "status": {"images": [
                {"names": ["example.com/a@sha256:12", "example.com/a:1"], "sizeBytes": 4_000_000},
                {"names": ["localhost/b:1"], "sizeBytes": 5},
                {"sizeBytes": 6},
            ]},
        }))
        .unwrap();
        let bytes = |image: &str, id: Option<&str>| image_bytes(Some(&node), image, id);
        assert_eq!(
            bytes("example.com/a:other", Some("mirror/a@sha256:12")),
            Some(4_000_000)
        );
        assert_eq!(bytes("localhost/b:1", Some("sha256:34")), Some(5));
        assert_eq!(bytes("example.com/c:1", None), None);
        assert_eq!(image_bytes(None, "localhost/b:1", None), None);
    }

    #[test]
    fn a_pod_of_somebody_else_has_the_images_of_all_that_serves_and_the_version_of_its_template() {
        let status = |name: &str| {
            json!({
                "name": name, "image": name, "imageID": format!("sha256:{name}"), "ready": true,
                "restartCount": 0, "state": { "running": {} },
            })
        };
        let pod = json!({
            "metadata": {
                "name": "shop-1", "uid": "1", "labels": { "pod-template-hash": "6d8f" },
            },
            "spec": {
                "initContainers": [
                    { "name": "wait", "image": "wait" },
                    { "name": "mesh", "image": "mesh", "restartPolicy": "Always" },
                ],
                "containers": [{ "name": "shop", "image": "shop" }],
            },
            "status": {
                "phase": "Running",
                "initContainerStatuses": [status("wait"), status("mesh")],
                "containerStatuses": [status("shop")],
            },
        });
        let target = Target {
            group: "apps".into(),
            version: "v1".into(),
            resource: "deployments".into(),
            kind: "Deployment".into(),
            name: "shop".into(),
        };
        let pod: Pod = serde_json::from_value(pod).unwrap();
        let (facts, _) = of_foreign(&target, &pod, None, false).unwrap();
        assert_eq!(facts.image, "mesh, shop");
        assert_eq!(facts.image_id.as_deref(), Some("sha256:mesh, sha256:shop"));
        assert_eq!(facts.template.as_deref(), Some("6d8f"));
    }
}
