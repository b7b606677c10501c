//! A namespace per test, under the `restricted` pod security standard, removed afterwards. If the
//! test fails, the namespace's state is printed first.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::{DeleteParams, PostParams};
use kube::{Api, Client};
use serde_json::json;

use crate::eventually;
use crate::evidence::left_of;
use crate::kubectl::kubectl;

/// Runs `test` in a fresh namespace whose name begins with `prefix`.
pub async fn with_namespace<F, Fut>(prefix: &str, test: F)
where
    F: FnOnce(Client, String) -> Fut,
    Fut: Future<Output = ()>,
{
    with_namespace_of("restricted", prefix, test).await;
}

/// Runs `test` like [`with_namespace`], under another pod security standard.
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
    allow_cold_starts(&client, &name).await;
    let result = AssertUnwindSafe(test(client.clone(), name.clone()))
        .catch_unwind()
        .await;
    if result.is_err() {
        dump(&name).await;
        // A failure here has been reported and must not hide the failure of the test.
        let _ = AssertUnwindSafe(remove_runs(&client, &name))
            .catch_unwind()
            .await;
    }
    let _ = api.delete(&name, &DeleteParams::background()).await;
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
}

/// Does what the chart does for the namespaces in `coldStart.namespaces`, for a namespace created
/// later.
async fn allow_cold_starts(client: &Client, namespace: &str) {
    let name = "wasmbench-cold-start";
    let binding = serde_json::from_value(json!({
        "metadata": { "name": name },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name },
        "subjects": [{
            "kind": "ServiceAccount", "name": name, "namespace": crate::operator_namespace(),
        }],
    }));
    let api: Api<RoleBinding> = Api::namespaced(client.clone(), namespace);
    api.create(&PostParams::default(), &binding.expect("a binding"))
        .await
        .expect("cold starts are allowed");
}

/// Removes the runs of a failed test and waits until nothing of them is left: if one still held the
/// node, the next tests would fail too.
async fn remove_runs(client: &Client, namespace: &str) {
    // A schedule would start other runs meanwhile.
    let schedules = ["delete", "benchmarkschedules", "--all", "-n", namespace];
    kubectl(&schedules).await;
    let path = "jsonpath={.items[*].metadata.uid}";
    let uids = kubectl(&["get", "benchmarkruns", "-n", namespace, "-o", path]).await;
    let delete = ["delete", "benchmarkruns", "--all", "--wait=false"];
    kubectl(&[&delete[..], &["-n", namespace]].concat()).await;
    for uid in uids.stdout.split_whitespace() {
        eventually(crate::PATIENCE, "nothing of the run is left", || async {
            left_of(client, uid).await.is_empty().then_some(())
        })
        .await;
    }
}

#[expect(clippy::print_stderr, reason = "evidence of a failed test")]
async fn dump(namespace: &str) {
    let operator = crate::operator_namespace();
    let report = r"jsonpath={.items[*].data.report\.md}";
    let commands: [&[&str]; 8] = [
        &["get", "configmaps", "-n", namespace, "-o", report],
        &["get", "benchmarkruns", "-n", namespace, "-o", "yaml"],
        &["get", "benchmarkschedules", "-n", namespace, "-o", "yaml"],
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
