//! A cluster has one installation. A second one is refused by Helm, by the API server, and by its own
//! operator, also if it follows other namespaces: it would load the same nodes.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::{Value, json};
use wasmbench_api::labels;
use wasmbench_e2e::kubectl::{Output, kubectl, run};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::policy::without_policy;
use wasmbench_e2e::tenant::{account, client_as};
use wasmbench_e2e::{PATIENCE, eventually, operator_namespace};

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../charts/wasmbench");

/// What a second installation needs to be able to work but for the first one. The namespaces of the tests
/// enforce the restricted standard.
const VALUES: &str = "crds.enabled=false,admissionPolicies.enabled=false,networkPolicy.enabled=false,meter.level=none";

/// Calls helm for a second release in `namespace`, which follows this namespace only.
async fn second(namespace: &str, command: &[&str], more: &[&str]) -> Output {
    let helm = std::env::var("HELM").unwrap_or_else(|_| "helm".into());
    let followed = format!("watchNamespaces=[\"{namespace}\"]");
    let release = ["other", CHART, "--namespace", namespace, "--set", VALUES];
    let listed = [
        "--set-json",
        &followed,
        "--set-json",
        "coldStart.namespaces=[]",
        "--set-json",
        "scale.namespaces=[]",
    ];
    run(&helm, &[command, &release, &listed, more].concat()).await
}

/// The manifests of the second release, in a file.
async fn rendered(namespace: &str, more: &[&str]) -> tempfile::NamedTempFile {
    let template = ["template", "--kube-version", "1.33.0", "--skip-tests"];
    let manifests = second(namespace, &template, more).await;
    assert!(manifests.ok, "{manifests:?}");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), manifests.stdout).expect("written");
    file
}

async fn apply(namespace: &str, file: &tempfile::NamedTempFile, more: &[&str]) -> Output {
    let path = file.path().to_str().expect("a path in UTF-8");
    let apply = ["apply", "--namespace", namespace, "--filename", path];
    kubectl(&[&apply[..], more].concat()).await
}

/// What every refusal says.
fn text() -> String {
    format!("already installed in namespace {}", operator_namespace())
}

fn assert_refused(output: &Output) {
    assert!(!output.ok && output.stderr.contains(&text()), "{output:?}");
}

/// The values of the first release, in a file: images that exist, and nodes for the operator.
async fn first_values() -> tempfile::NamedTempFile {
    let helm = std::env::var("HELM").unwrap_or_else(|_| "helm".into());
    let namespace = operator_namespace();
    let get = ["get", "values", "wasmbench", "--output", "yaml"];
    let values = run(&helm, &[&get[..], &["--namespace", &namespace]].concat()).await;
    assert!(values.ok, "{values:?}");
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), values.stdout).expect("written");
    file
}

/// Runs `test`, which applies these manifests, and removes what is there of them.
async fn removed_after(
    namespace: &str,
    file: &tempfile::NamedTempFile,
    test: impl Future<Output = ()>,
) {
    let tested = AssertUnwindSafe(test).catch_unwind().await;
    let path = file.path().to_str().expect("a path in UTF-8");
    let delete = ["delete", "--ignore-not-found", "--namespace", namespace];
    let deleted = kubectl(&[&delete[..], &["--filename", path]].concat()).await;
    if let Err(panic) = tested {
        std::panic::resume_unwind(panic);
    }
    assert!(deleted.ok, "{deleted:?}");
}

/// What the API server says to `user` who would create a ConfigMap with this metadata.
async fn would_create(user: &str, namespace: &str, metadata: Value) -> Result<(), kube::Error> {
    let api: Api<ConfigMap> = Api::namespaced(client_as(user).await, namespace);
    let map = serde_json::from_value(json!({ "metadata": metadata })).expect("a ConfigMap");
    let dry_run = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    api.create(&dry_run, &map).await.map(drop)
}

/// Only the Deployment of a second release is refused, and kubectl creates the others. They refuse nothing to the
/// operator of the first one.
async fn check_what_a_refusal_leaves(namespace: &str, everything: &tempfile::NamedTempFile) {
    assert_refused(&apply(namespace, everything, &[]).await);
    let second = format!("system:serviceaccount:{namespace}:other-wasmbench");
    eventually(PATIENCE, "its policies are in force", || async {
        let plain = json!({ "name": "plain" });
        match would_create(&second, namespace, plain).await {
            Err(kube::Error::Api(status)) => {
                let is_refused = status.message.contains("other-wasmbench-owned");
                is_refused.then_some(())
            }
            _ => None,
        }
    })
    .await;
    let of_run = json!({
        "name": "of-a-run", "labels": { labels::RUN_UID: "1" },
        "ownerReferences": [{
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun", "name": "run", "uid": "1",
        }],
    });
    let created = would_create(&account("wasmbench"), namespace, of_run).await;
    assert!(created.is_ok(), "{created:?}");
}

async fn check(client: Client, namespace: String) {
    assert_refused(&second(&namespace, &["install", "--dry-run=server"], &[]).await);
    let only = ["--show-only", "templates/deployment.yaml"];
    let deployment = rendered(&namespace, &only).await;
    assert_refused(&apply(&namespace, &deployment, &["--dry-run=server"]).await);
    let values = first_values().await;
    let values = values.path().to_str().expect("a path in UTF-8");
    let policies = ["--set", "admissionPolicies.enabled=true"];
    let everything = rendered(&namespace, &[&["--values", values][..], &policies].concat()).await;
    let left = Box::pin(check_what_a_refusal_leaves(&namespace, &everything));
    removed_after(&namespace, &everything, left).await;
    let everything = rendered(&namespace, &["--values", values]).await;
    let applied = Box::pin(async {
        eventually(PATIENCE, "nothing refuses it", || async {
            apply(&namespace, &everything, &[]).await.ok.then_some(())
        })
        .await;
        let logs = ["logs", "deployment/other-wasmbench", "--namespace"];
        eventually(PATIENCE, "its operator refuses to work", || async {
            let log = kubectl(&[&logs[..], &[namespace.as_str()]].concat()).await;
            log.stdout.contains(&text()).then_some(())
        })
        .await;
    });
    let unopposed = Box::pin(without_policy(&client, "installation", applied));
    removed_after(&namespace, &everything, unopposed).await;
}

#[tokio::test]
async fn a_second_installation_is_refused_by_helm_by_the_api_server_and_by_its_operator() {
    with_namespace("second", |client, namespace| {
        Box::pin(check(client, namespace))
    })
    .await;
}
