//! A namespace per test, under the `restricted` pod security standard, removed afterwards; on
//! failure its state is printed first.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};
use serde_json::json;

use crate::kubectl::kubectl;

/// Runs `test` in a fresh namespace whose name begins with `prefix`.
pub async fn with_namespace<F, Fut>(prefix: &str, test: F)
where
    F: FnOnce(Client, String) -> Fut,
    Fut: Future<Output = ()>,
{
    with_namespace_of("restricted", prefix, test).await;
}

/// The same under another pod security standard.
pub async fn with_namespace_of<F, Fut>(standard: &str, prefix: &str, test: F)
where
    F: FnOnce(Client, String) -> Fut,
    Fut: Future<Output = ()>,
{
    let client = crate::client().await;
    let stamp = jiff::Timestamp::now().as_millisecond() % 100_000_000;
    let name = format!("e2e-{prefix}-{stamp}");
    let api: Api<Namespace> = Api::all(client.clone());
    let namespace = serde_json::from_value(json!({
        "metadata": {
            "name": name,
            "labels": { "pod-security.kubernetes.io/enforce": standard },
        }
    }));
    let namespace = namespace.expect("a namespace");
    api.create(&PostParams::default(), &namespace)
        .await
        .expect("the namespace is created");
    let result = AssertUnwindSafe(test(client, name.clone()))
        .catch_unwind()
        .await;
    if result.is_err() {
        dump(&name).await;
    }
    let _ = api.delete(&name, &DeleteParams::background()).await;
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

#[expect(clippy::print_stderr, reason = "evidence of a failed test")]
async fn dump(namespace: &str) {
    let operator = crate::operator_namespace();
    let report = r"jsonpath={.items[*].data.report\.md}";
    let commands: [&[&str]; 7] = [
        &["get", "configmaps", "-n", namespace, "-o", report],
        &["get", "benchmarkruns", "-n", namespace, "-o", "yaml"],
        &["get", "pods", "-n", namespace, "-o", "wide"],
        &["get", "events", "-n", namespace],
        &["get", "pods,jobs,leases", "-n", &operator, "-o", "wide"],
        &["get", "events", "-n", &operator],
        &["logs", "-n", &operator, "deployment/wasmbench", "--tail=60"],
    ];
    for command in commands {
        let output = kubectl(command).await;
        eprintln!(
            "--- kubectl {}\n{}{}",
            command.join(" "),
            output.stdout,
            output.stderr
        );
    }
}
