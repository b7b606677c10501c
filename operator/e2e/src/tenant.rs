//! Users other than the administrator: a tenant with the role `edit` in a namespace of their own,
//! and the accounts of wasmbench, in case somebody gets hold of a token.

use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, Config};
use serde_json::json;
use wasmbench_api::BenchmarkRun;

use crate::{PATIENCE, eventually};

/// Name of the tenant.
const TENANT: &str = "mallory";

/// A client with the rights of `user`.
pub async fn client_as(user: &str) -> Client {
    let mut config = Config::infer().await.expect("a kubeconfig");
    config.auth_info.impersonate = Some(user.to_owned());
    Client::try_from(config).expect("a client")
}

/// A client for a user who may edit `namespace`.
pub async fn tenant(admin: &Client, namespace: &str) -> Client {
    let binding = serde_json::from_value(json!({
        "metadata": { "name": TENANT },
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit",
        },
        "subjects": [{
            "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": TENANT,
        }],
    }));
    let api: Api<RoleBinding> = Api::namespaced(admin.clone(), namespace);
    api.create(&PostParams::default(), &binding.expect("a binding"))
        .await
        .expect("the tenant may edit");
    let tenant = client_as(TENANT).await;
    // The API server sees the binding a moment later.
    let runs: Api<BenchmarkRun> = Api::namespaced(tenant.clone(), namespace);
    eventually(PATIENCE, "the tenant may edit", || async {
        runs.list(&ListParams::default().limit(1)).await.ok()
    })
    .await;
    tenant
}

/// The operator's account, or that of its cold starts, by its name in the API server.
pub fn account(name: &str) -> String {
    let namespace = crate::operator_namespace();
    format!("system:serviceaccount:{namespace}:{name}")
}

/// Asserts that the API server forbade the request with these words.
pub fn assert_refused<T: std::fmt::Debug>(answer: Result<T, kube::Error>, text: &str) {
    match answer {
        Err(kube::Error::Api(status)) if status.is_forbidden() => {
            assert!(status.message.contains(text), "{}", status.message);
        }
        other => panic!("not forbidden: {other:?}"),
    }
}
