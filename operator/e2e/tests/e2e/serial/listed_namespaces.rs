//! The chart's `watchNamespaces`: for a while the release follows one namespace only.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use kube::Client;
use serde_json::Value;
use wasmbench_e2e::kubectl::{Output, kubectl, run};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::tenant::account;
use wasmbench_e2e::{operator_namespace, runs};

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../charts/wasmbench");

const BRIEF: &str = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 100}}
";

/// What the operator does with pods and ConfigMaps, and could not do without.
const RIGHTS: [(&str, &str); 4] = [
    ("create", "pods"),
    ("list", "pods"),
    ("list", "configmaps"),
    ("update", "configmaps"),
];

/// Runs helm on the release, with the pinned version that `make e2e` names.
async fn helm(arguments: &[&str]) -> Output {
    let helm = std::env::var("HELM").unwrap_or_else(|_| "helm".into());
    let namespace = operator_namespace();
    let called = run(&helm, &[arguments, &["--namespace", &namespace]].concat()).await;
    assert!(called.ok, "{called:?}");
    called
}

/// Runs `test` while the operator follows `namespace` only.
async fn while_listed(namespace: &str, test: impl Future<Output = ()>) {
    let status = helm(&["status", "wasmbench", "--output", "json"]).await;
    let status: Value = serde_json::from_str(&status.stdout).expect("JSON");
    let before = status["version"].to_string();
    let listed = format!("watchNamespaces=[\"{namespace}\"]");
    let tested = AssertUnwindSafe(async {
        let upgrade = ["upgrade", "wasmbench", CHART, "--reuse-values"];
        let more = [
            "--set-json",
            &listed,
            "--set-json",
            "coldStart.namespaces=[]",
            "--set-json",
            "scale.namespaces=[]",
        ];
        helm(&[&upgrade[..], &more, &["--wait", "--timeout", "600s"]].concat()).await;
        test.await;
    });
    let tested = tested.catch_unwind().await;
    helm(&[
        "rollback",
        "wasmbench",
        &before,
        "--wait",
        "--timeout",
        "600s",
    ])
    .await;
    if let Err(panic) = tested {
        std::panic::resume_unwind(panic);
    }
}

/// Whether the operator may do this in the namespaces that the last arguments name.
async fn may(verb: &str, resource: &str, place: &[&str]) -> bool {
    let user = format!("--as={}", account("wasmbench"));
    let ask = ["auth", "can-i", verb, resource, &user];
    let answer = kubectl(&[&ask[..], place].concat()).await;
    match answer.stdout.trim() {
        "yes" => true,
        "no" => false,
        _ => panic!("{answer:?}"),
    }
}

async fn assert_within(client: &Client, listed: &str, unlisted: &str) {
    for (verb, resource) in RIGHTS {
        assert!(
            may(verb, resource, &["-n", listed]).await,
            "{verb} {resource}"
        );
        for place in [&["-n", unlisted][..], &["-n", "kube-system"], &["-A"]] {
            let reaches = may(verb, resource, place).await;
            assert!(!reaches, "{verb} {resource} {place:?}");
        }
    }
    runs::create(client, unlisted, "unseen", BRIEF).await;
    runs::create(client, listed, "seen", BRIEF).await;
    let observed = runs::finished(client, listed, "seen", 120).await;
    runs::assert_measured(&runs::records(client, &observed).await, 1);
    let unseen = runs::get(client, unlisted, "unseen").await;
    assert!(unseen.status.is_none(), "{:#?}", unseen.status);
}

#[tokio::test]
async fn a_listed_namespace_is_measured_in_and_all_others_are_out_of_reach() {
    with_namespace("listed", |client, listed| {
        Box::pin(async move {
            with_namespace("unlisted", |_, unlisted| {
                check_both(client, listed, unlisted)
            })
            .await;
        })
    })
    .await;
}

async fn check_both(client: Client, listed: String, unlisted: String) {
    let within = Box::pin(assert_within(&client, &listed, &unlisted));
    Box::pin(while_listed(&listed, within)).await;
    // With all namespaces followed again, nothing is lost.
    let unseen = runs::finished(&client, &unlisted, "unseen", 120).await;
    runs::assert_measured(&runs::records(&client, &unseen).await, 1);
}
