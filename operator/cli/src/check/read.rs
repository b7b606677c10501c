//! Reads an installation with the user's own rights. A refusal is an answer; a cluster that does
//! not respond is an error.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Node, NodeRuntimeHandler, ResourceQuota};
use k8s_openapi::api::networking::v1::NetworkPolicy;
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, ListParams};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use wasmbench_api::owner::is_offered;
use wasmbench_api::quantity::thousandths;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::scale::{ObservedTarget, Target, obstacle, template_labels, without_pods};

use crate::check::answer::answer;
use crate::check::observed::{
    Answer, ObservedInstallation, ObservedNode, ObservedObject, ObservedOperator,
    ObservedRuntimeClass,
};
use crate::check::rights::rights;
use crate::cluster::{Cluster, patiently};
use crate::error::Error;

/// The component label of the chart's objects.
const OPERATOR: &str = "operator";
/// The label with the chart's `appVersion`, on all objects of the chart.
const VERSION: &str = "app.kubernetes.io/version";
/// The suffix of the name of the operator's `ConfigMap`, and the file in it.
const CONFIG: (&str, &str) = ("-config", "config.yaml");
/// The label with the pod security level that a namespace enforces.
const ENFORCED: &str = "pod-security.kubernetes.io/enforce";

/// Reads everything that the checks are based on.
pub async fn read(
    cluster: &Cluster,
    operator_namespace: Option<&str>,
) -> Result<ObservedInstallation, Error> {
    let operators = operators(cluster, operator_namespace).await?;
    let first = operators.as_ref().ok().and_then(|all| all.first());
    let (config, pod_security) = match first {
        Some(operator) => (
            config(cluster, operator).await?,
            pod_security(cluster, operator).await?,
        ),
        None => (unknown(), unknown()),
    };
    Ok(ObservedInstallation {
        namespace: cluster.namespace().to_owned(),
        namespace_exists: namespace_exists(cluster).await?,
        resources: resources(cluster).await?,
        config,
        policies: policies(cluster).await?,
        pod_security,
        rights: rights(cluster).await?,
        network_policies: network_policies(cluster).await?,
        runtime_classes: runtime_classes(cluster).await?,
        nodes: nodes(cluster).await?,
        operators,
    })
}

fn unknown<T>() -> Answer<T> {
    Err("the operator was not found".to_owned())
}

/// Lists the objects of a kind in all namespaces: all of them, or only the chart's.
async fn all<K>(
    cluster: &Cluster,
    what: &'static str,
    of_the_chart: bool,
) -> Result<Answer<Vec<K>>, Error>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + std::fmt::Debug,
{
    let api: Api<K> = Api::all(cluster.client().clone());
    let params = if of_the_chart {
        ours()
    } else {
        ListParams::default()
    };
    let found = answer(what, api.list(&params)).await?;
    Ok(found.map(|list| list.items))
}

fn ours() -> ListParams {
    let (part, component) = (labels::PART_OF, labels::COMPONENT);
    let app = labels::APP;
    ListParams::default().labels(&format!("{part}={app},{component}={OPERATOR}"))
}

/// Reads discovery, which is open to everyone. It lists what the API server serves, and so which
/// CRDs are established.
async fn resources(cluster: &Cluster) -> Result<Answer<Vec<String>>, Error> {
    let version = BenchmarkRun::api_version(&());
    let request = cluster.client().list_api_group_resources(&version);
    match patiently("read what the API server serves", request).await {
        Ok(list) => Ok(Ok(list.resources.into_iter().map(|one| one.name).collect())),
        Err(Error::NotInstalled) => Ok(Ok(vec![])),
        Err(error @ Error::Unreachable(_)) => Err(error),
        Err(error) => Ok(Err(error.to_string())),
    }
}

async fn operators(
    cluster: &Cluster,
    namespace: Option<&str>,
) -> Result<Answer<Vec<ObservedOperator>>, Error> {
    let found = match namespace {
        None => all(cluster, "list Deployments of all namespaces", true).await?,
        Some(namespace) => {
            let api: Api<Deployment> = Api::namespaced(cluster.client().clone(), namespace);
            let found = answer("list Deployments there", api.list(&ours())).await?;
            found.map(|list| list.items)
        }
    };
    Ok(found.map(|all| all.iter().map(operator).collect()))
}

fn operator(deployment: &Deployment) -> ObservedOperator {
    let mut conditions = deployment
        .status
        .as_ref()
        .into_iter()
        .flat_map(|status| status.conditions.iter().flatten());
    ObservedOperator {
        namespace: deployment.namespace().unwrap_or_default(),
        name: deployment.name_any(),
        version: deployment.labels().get(VERSION).cloned(),
        available: conditions.any(|one| one.type_ == "Available" && one.status == "True"),
    }
}

async fn config(cluster: &Cluster, of: &ObservedOperator) -> Result<Answer<OperatorConfig>, Error> {
    let api: Api<ConfigMap> = Api::namespaced(cluster.client().clone(), &of.namespace);
    let name = format!("{}{}", of.name, CONFIG.0);
    let found = answer("read the operator's ConfigMap", api.get(&name)).await?;
    Ok(found.and_then(|map| {
        let data = map.data.unwrap_or_default();
        let text = data.get(CONFIG.1).map(String::as_str);
        serde_yaml::from_str(text.unwrap_or_default())
            .map_err(|error| format!("another version's configuration ({error})"))
    }))
}

async fn pod_security(
    cluster: &Cluster,
    of: &ObservedOperator,
) -> Result<Answer<Option<String>>, Error> {
    let api: Api<Namespace> = Api::all(cluster.client().clone());
    let found = answer("read the operator's namespace", api.get(&of.namespace)).await?;
    Ok(found.map(|namespace| namespace.labels().get(ENFORCED).cloned()))
}

async fn namespace_exists(cluster: &Cluster) -> Result<Answer<bool>, Error> {
    let api: Api<Namespace> = Api::all(cluster.client().clone());
    let found = answer(
        "read the namespace",
        api.get_metadata_opt(cluster.namespace()),
    )
    .await?;
    Ok(found.map(|namespace| namespace.is_some()))
}

async fn policies(cluster: &Cluster) -> Result<Answer<BTreeSet<String>>, Error> {
    let policies: Answer<Vec<ValidatingAdmissionPolicy>> =
        all(cluster, "list admission policies", true).await?;
    let bindings: Answer<Vec<ValidatingAdmissionPolicyBinding>> =
        all(cluster, "list bindings of admission policies", true).await?;
    Ok(policies.and_then(|policies| {
        let there: BTreeSet<String> = policies.iter().map(ResourceExt::name_any).collect();
        Ok(bindings?
            .into_iter()
            .filter_map(|binding| binding.spec)
            .filter(|spec| {
                spec.validation_actions
                    .iter()
                    .flatten()
                    .any(|one| one == "Deny")
            })
            .filter_map(|spec| spec.policy_name)
            .filter(|name| there.contains(name))
            .collect())
    }))
}

/// `None` for what is not there, be it the object or its kind: of a kind that it does not serve, the API server
/// says so in plain text, which has a code and no reason.
fn if_there<T>(answer: kube::Result<T>) -> kube::Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

/// An object that a run is to scale. What scales it by itself is not looked for.
pub async fn target(cluster: &Cluster, target: &Target) -> Result<Answer<ObservedObject>, Error> {
    let gvk = GroupVersionKind::gvk(&target.group, &target.version, &target.kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, &target.resource);
    let client = cluster.client().clone();
    let api: Api<DynamicObject> = Api::namespaced_with(client, cluster.namespace(), &resource);
    let found = async { if_there(api.get(&target.name).await) };
    let found = answer("read it", found).await?;
    let object = match found {
        Ok(Some(object)) => object,
        Ok(None) => return Ok(Ok(ObservedObject::default())),
        Err(why) => return Ok(Err(why)),
    };
    // Its kind may have none.
    let scale = async { if_there(api.get_scale(&target.name).await) };
    let scale = answer("read its scale", scale).await?;
    Ok(scale.map(|scale| {
        let spec = scale.as_ref().and_then(|scale| scale.spec.as_ref());
        let replicas = spec.and_then(|spec| spec.replicas).unwrap_or_default();
        let target = ObservedTarget {
            uid: object.uid(),
            replicas: u32::try_from(replicas).unwrap_or_default(),
            is_offered: is_offered(&object.metadata),
            without_pods: without_pods(target, scale.as_ref()),
            obstacle: obstacle(target, &object.data, &[]),
            ..ObservedTarget::default()
        };
        ObservedObject {
            target,
            node_selector: template_labels(&object.data),
        }
    }))
}

/// The NetworkPolicies of the namespace.
pub async fn network_policies(cluster: &Cluster) -> Result<Answer<Vec<NetworkPolicy>>, Error> {
    let api: Api<NetworkPolicy> = Api::namespaced(cluster.client().clone(), cluster.namespace());
    let found = answer("list NetworkPolicies", api.list(&ListParams::default())).await?;
    Ok(found.map(|list| list.items))
}

/// The ResourceQuotas of the namespace.
pub async fn quotas(cluster: &Cluster) -> Result<Answer<Vec<ResourceQuota>>, Error> {
    let api: Api<ResourceQuota> = Api::namespaced(cluster.client().clone(), cluster.namespace());
    let found = answer("list ResourceQuotas", api.list(&ListParams::default())).await?;
    Ok(found.map(|list| list.items))
}

/// `RuntimeClasses` by name.
pub async fn runtime_classes(
    cluster: &Cluster,
) -> Result<Answer<BTreeMap<String, ObservedRuntimeClass>>, Error> {
    let found: Answer<Vec<RuntimeClass>> = all(cluster, "list RuntimeClasses", false).await?;
    let class = |class: RuntimeClass| {
        let scheduling = class.scheduling.clone();
        let node_selector = scheduling.and_then(|scheduling| scheduling.node_selector);
        let observed = ObservedRuntimeClass {
            handler: class.handler.clone(),
            node_selector: node_selector.unwrap_or_default().into_iter().collect(),
        };
        (class.name_any(), observed)
    };
    Ok(found.map(|all| all.into_iter().map(class).collect()))
}

/// All nodes.
pub async fn nodes(cluster: &Cluster) -> Result<Answer<Vec<ObservedNode>>, Error> {
    let found: Answer<Vec<Node>> = all(cluster, "list nodes", false).await?;
    Ok(found.map(|all| all.iter().map(node).collect()))
}

fn node(node: &Node) -> ObservedNode {
    let status = node.status.as_ref();
    let handlers = status.and_then(|status| status.runtime_handlers.as_ref());
    // The default handler has no name.
    let names = |handlers: &Vec<NodeRuntimeHandler>| -> BTreeSet<String> {
        let names = handlers.iter().filter_map(|one| one.name.clone());
        names.filter(|name| !name.is_empty()).collect()
    };
    ObservedNode {
        name: node.name_any(),
        labels: node.labels().clone(),
        handlers: handlers.map(names).filter(|names| !names.is_empty()),
        cpus: cpus(node),
    }
}

/// The node's whole CPUs. The operator, too, goes by the capacity.
fn cpus(node: &Node) -> Option<u32> {
    let capacity = node.status.as_ref()?.capacity.as_ref()?;
    u32::try_from(thousandths(&capacity.get("cpu")?.0)? / 1000).ok()
}
