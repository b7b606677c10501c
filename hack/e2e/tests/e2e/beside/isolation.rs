//! What others put into the cluster changes nothing, and the operator can do no more than it needs.

use kube::Api;
use kube::api::PostParams;
use serde_json::json;
use wasmbench_api::labels;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{operator_namespace, runs};

const TINY: &str = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 50}}
";

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
