//! An injector, as a service mesh has one: a policy of the API server that adds a container to the
//! pods of one variant in one namespace. The namespace owns it, so it goes with the namespace.

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, PostParams};
use kube::{Api, Client};
use serde_json::json;
use wasmbench_api::labels;

use crate::{PATIENCE, eventually};

/// Name of the container that is injected, before those that are there.
pub const CONTAINER: &str = "proxy";
const GROUP: &str = "admissionregistration.k8s.io";
/// The container passes the pod security standard `restricted`. Its image does not exist, so a pod
/// that waits for it never runs.
const PATCH: &str = r#"[JSONPatch{op: "add", path: "/spec/containers/0", value: Object.spec.containers{
  name: "proxy", image: "localhost/wasmbench/does-not-exist:1", imagePullPolicy: "Never",
  securityContext: Object.spec.containers.securityContext{
    allowPrivilegeEscalation: false,
    capabilities: Object.spec.containers.securityContext.capabilities{drop: ["ALL"]}
  }
}}]"#;

/// Injects the container into pods of `variant` from now on.
pub async fn inject(client: &Client, namespace: &str, variant: &str) {
    let of_variant = format!(
        "has(object.metadata.labels) && '{key}' in object.metadata.labels && \
         object.metadata.labels['{key}'] == '{variant}'",
        key = labels::VARIANT
    );
    let policy = json!({
        "matchConstraints": {
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
            "resourceRules": [{
                "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                "resources": ["pods"],
            }],
        },
        "matchConditions": [{ "name": "is-of-the-variant", "expression": of_variant }],
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{ "patchType": "JSONPatch", "jsonPatch": { "expression": PATCH } }],
    });
    create(client, namespace, "MutatingAdmissionPolicy", policy).await;
    let binding = json!({ "policyName": namespace });
    create(client, namespace, "MutatingAdmissionPolicyBinding", binding).await;
    in_force(client, namespace, variant).await;
}

/// Creates an object of the cluster that has the name of the namespace and goes with it.
async fn create(client: &Client, namespace: &str, kind: &str, spec: serde_json::Value) {
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let owner = namespaces.get(namespace).await.expect("the namespace");
    let object = json!({
        "apiVersion": format!("{GROUP}/v1"), "kind": kind, "spec": spec,
        "metadata": {
            "name": namespace,
            "ownerReferences": [{
                "apiVersion": "v1", "kind": "Namespace", "name": namespace,
                "uid": owner.metadata.uid,
            }],
        },
    });
    let object: DynamicObject = serde_json::from_value(object).expect("an object");
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(GROUP, "v1", kind));
    let api: Api<DynamicObject> = Api::all_with(client.clone(), &resource);
    let created = api.create(&PostParams::default(), &object).await;
    created.unwrap_or_else(|error| panic!("{kind} is created: {error}"));
}

/// Waits until the API server, which learns of a policy a moment later, injects the container.
async fn in_force(client: &Client, namespace: &str, variant: &str) {
    let pod = json!({
        "metadata": { "name": "is-it-injected", "labels": { labels::VARIANT: variant } },
        "spec": {
            "securityContext": {
                "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" },
            },
            "containers": [{
                "name": "a", "image": "a",
                "securityContext": {
                    "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] },
                },
            }],
        },
    });
    let pod: Pod = serde_json::from_value(pod).expect("a pod");
    let api: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let not_stored = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    eventually(PATIENCE, "the container is injected", || async {
        let answer = api.create(&not_stored, &pod).await.ok()?;
        let mut names = answer.spec?.containers.into_iter().map(|one| one.name);
        (names.next()? == CONTAINER).then_some(())
    })
    .await;
}
