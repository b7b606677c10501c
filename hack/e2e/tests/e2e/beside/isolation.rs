//! One bad object never stops the others, and the operator can do no more than it needs.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use serde_json::json;
use wasmbench_api::labels;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{eventually, operator_namespace, runs};

const TINY: &str = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 50}}
";

/// An object from before the CRD knew its bounds, as an upgrade leaves it.
async fn create_undecodable(client: &kube::Client, namespace: &str) {
    let crds: Api<CustomResourceDefinition> = Api::all(client.clone());
    let name = "benchmarkruns.wasmbench.dev";
    let strict = crds.get(name).await.expect("the CRD is installed");
    let mut loose = serde_json::to_value(&strict).expect("JSON");
    loose["metadata"]["managedFields"] = json!(null);
    let schema = &mut loose["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"];
    schema["spec"] = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let loose: CustomResourceDefinition = serde_json::from_value(loose).expect("a CRD");
    crds.replace(name, &PostParams::default(), &loose)
        .await
        .expect("the CRD is loosened");
    let resource = ApiResource::erase::<wasmbench_api::BenchmarkRun>(&());
    let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &resource);
    let object = serde_json::from_value::<DynamicObject>(json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {"name": "garbage"},
        "spec": {"blocks": "many", "variants": {"a": 1}},
    }));
    let object = object.expect("an object");
    let created = eventually(
        Duration::from_secs(20),
        "the loose schema is served",
        || async { api.create(&PostParams::default(), &object).await.ok() },
    )
    .await;
    assert_eq!(created.data["spec"]["blocks"], "many");
    let restored = json!({"spec": strict.spec});
    crds.patch(name, &PatchParams::default(), &Patch::Merge(&restored))
        .await
        .expect("the CRD is restored");
}

#[tokio::test]
async fn an_object_that_does_not_decode_is_marked_and_the_others_go_on() {
    with_namespace("garbage", |client, namespace| async move {
        create_undecodable(&client, &namespace).await;
        runs::create(&client, &namespace, "healthy", TINY).await;
        let run = runs::finished(&client, &namespace, "healthy", 60).await;
        assert_eq!(runs::outcomes(&runs::records(&client, &run).await).len(), 1);
        let path = "jsonpath={.status.conditions[?(@.type==\"Accepted\")].reason}";
        eventually(
            Duration::from_secs(10),
            "the object says why it is refused",
            || async {
                let get = ["get", "brun", "garbage", "-n", &namespace, "-o", path];
                (kubectl(&get).await.stdout == "Undecodable").then_some(())
            },
        )
        .await;
    })
    .await;
}

#[tokio::test]
async fn pods_and_records_that_only_look_like_the_operators_change_nothing() {
    with_namespace("forged", |client, namespace| async move {
        let run = runs::create(&client, &namespace, "real", TINY).await;
        let uid = run.metadata.uid.clone().expect("a uid");
        let map = serde_json::from_value(json!({
            "metadata": {
                "name": "forged",
                "labels": {
                    labels::RUN_UID: uid, labels::COMPONENT: labels::COMPONENT_RECORDS,
                    labels::VARIANT: "native", labels::WORKLOAD: "hello",
                },
                "annotations": {labels::RECORD_INDEX: "warm/b1 Measured\n"},
            }
        }));
        let maps: Api<k8s_openapi::api::core::v1::ConfigMap> =
            Api::namespaced(client.clone(), &namespace);
        maps.create(&PostParams::default(), &map.expect("a map"))
            .await
            .expect("created");
        let run = runs::finished(&client, &namespace, "real", 60).await;
        let summary = &run.status.as_ref().expect("a status").summary;
        assert!(
            summary
                .first()
                .is_some_and(|row| row.warm_latency.is_some()),
            "{summary:?}"
        );
    })
    .await;
}

#[tokio::test]
async fn the_operator_may_do_what_it_needs_and_nothing_else() {
    let namespace = operator_namespace();
    let account = format!("--as=system:serviceaccount:{namespace}:wasmbench");
    let may = |verb: &'static str, what: &'static str, place: String| {
        let account = account.clone();
        async move {
            // `pods/exec` would be a pod of the name `exec` to this command.
            let (what, sub) = what.split_once('/').unwrap_or((what, ""));
            let sub = format!("--subresource={sub}");
            let ask = ["auth", "can-i", verb, what, &sub, &account, "-n", &place];
            let answer = kubectl(&ask).await;
            answer.stdout.trim() == "yes"
        }
    };
    let elsewhere = "default".to_owned();
    for (verb, what) in [
        ("get", "secrets"),
        ("list", "secrets"),
        ("create", "pods/exec"),
        ("get", "nodes/proxy"),
        ("create", "serviceaccounts"),
        ("create", "serviceaccounts/token"),
        ("create", "rolebindings"),
        ("escalate", "clusterroles"),
        ("impersonate", "users"),
        ("create", "jobs"),
        ("get", "pods/log"),
        ("create", "deployments"),
        ("patch", "nodes"),
    ] {
        assert!(
            !may(verb, what, elsewhere.clone()).await,
            "{verb} {what} is allowed"
        );
    }
    for (verb, what) in [
        ("create", "jobs"),
        ("get", "pods/log"),
        ("update", "leases"),
    ] {
        assert!(
            may(verb, what, namespace.clone()).await,
            "{verb} {what} is refused"
        );
    }
}

#[tokio::test]
async fn the_operators_metrics_are_served() {
    let namespace = operator_namespace();
    let pods = [
        "get",
        "pods",
        "-n",
        &namespace,
        "-o",
        "name",
        "-l",
        "app.kubernetes.io/component=operator",
    ];
    let pod = kubectl(&pods).await.stdout.trim().replace("pod/", "");
    let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}:8080/proxy/metrics");
    let text = kubectl(&["get", "--raw", &path]).await.stdout;
    for metric in [
        "wasmbench_reconcile_duration_seconds",
        "wasmbench_runs",
        "wasmbench_build_info",
    ] {
        assert!(text.contains(metric), "{metric} is missing:\n{text}");
    }
}
