//! What a `RuntimeClass` and a `ServiceAccount` bring along to every pod that names them.

use k8s_openapi::api::core::v1::{PodSpec, Toleration};

use crate::wire::addition::{AddedBy, Addition};

/// What the taints begin with that Kubernetes sets by itself: it adds tolerations of them to pods.
const OWN_TAINTS: &str = "node.kubernetes.io/";

/// What the cluster added to the pod by these rules.
pub fn additions(desired: &PodSpec, found: &PodSpec) -> Vec<Addition> {
    let mut all = vec![];
    if found.runtime_class_name.is_some() {
        all.extend(runtime_class_additions(desired, found));
    }
    let secrets = |spec: &PodSpec| -> Vec<String> {
        let all = spec.image_pull_secrets.iter().flatten();
        all.map(|secret| secret.name.clone()).collect()
    };
    let named = secrets(found);
    if named != secrets(desired) {
        all.push(Addition {
            by: AddedBy::ServiceAccount,
            what: "imagePullSecrets".into(),
            value: named.join(", "),
        });
    }
    all
}

fn runtime_class_additions(desired: &PodSpec, found: &PodSpec) -> Vec<Addition> {
    let by_class = |what: String, value: String| Addition {
        by: AddedBy::RuntimeClass,
        what,
        value,
    };
    let overhead = found
        .overhead
        .iter()
        .flatten()
        .map(|(key, amount)| (format!("overhead.{key}"), amount.0.clone()));
    let labels = found.node_selector.iter().flatten();
    let is_new = |key: &String| {
        !desired
            .node_selector
            .iter()
            .flatten()
            .any(|(own, _)| own == key)
    };
    let labels = labels
        .filter(|(key, _)| is_new(key))
        .map(|(key, value)| (format!("nodeSelector.{key}"), value.clone()));
    let own: Vec<&Toleration> = desired.tolerations.iter().flatten().collect();
    let tolerations = found
        .tolerations
        .iter()
        .flatten()
        .filter(|one| !own.contains(one) && !is_of_kubernetes(one))
        .map(|one| {
            let key = one.key.clone().unwrap_or_default();
            ("tolerations".to_owned(), key)
        });
    let all = overhead.chain(labels).chain(tolerations);
    all.map(|(what, value)| by_class(what, value)).collect()
}

fn is_of_kubernetes(toleration: &Toleration) -> bool {
    let key = toleration.key.as_deref();
    key.is_some_and(|key| key.starts_with(OWN_TAINTS))
}
