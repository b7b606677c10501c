//! A namespace without room for what a run needs: the run reports it with the API server's message, and
//! gives its node back.

use k8s_openapi::api::core::v1::{LimitRange, ResourceQuota};
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::json;
use wasmbench_api::conditions;
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{PATIENCE, eventually, runs};

use std::time::{Duration, Instant};

/// How long a run that cannot continue may keep its node.
const HELD: Duration = Duration::from_mins(2);

/// Waits until the run holds no node.
async fn gives_its_node_back(client: &Client, uid: &str, within: Duration) {
    eventually(within, "the node is given back", || async {
        let left = left_of(client, uid).await;
        let holds = left.iter().any(|left| left.starts_with("lease "));
        (!holds).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_echo_server_that_a_limit_range_refuses_costs_its_workload_and_not_the_node() {
    with_namespace("limited", |client, namespace| async move {
        let limit = json!({ "type": "Container", "min": { "cpu": "100m" } });
        let range = serde_json::from_value(json!({
            "metadata": { "name": "at-least" }, "spec": { "limits": [limit] },
        }));
        let ranges: Api<LimitRange> = Api::namespaced(client.clone(), &namespace);
        ranges
            .create(&PostParams::default(), &range.expect("a range"))
            .await
            .expect("a range");
        let spec = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: proxy, path: /elsewhere, expect: {body: upstream}, upstream: true}]
sweeps: {warmLatency: {requests: 50}}
";
        let run = runs::create(&client, &namespace, "proxied", spec).await;
        let uid = run.metadata.uid.expect("a uid");
        let run = runs::finished(&client, &namespace, "proxied", 120).await;
        gives_its_node_back(&client, &uid, HELD).await;
        let status = run.status.as_ref().expect("a status");
        let taken = status.start_time.as_ref().expect("it began").0;
        let ended = status.completion_time.as_ref().expect("it ended").0;
        let took = ended.duration_since(taken).as_secs();
        assert!(took < 120, "the node was held for {took} s");
        let skipped = &status.skipped;
        let why = skipped.first().map(|skipped| skipped.message.as_str());
        let why = why.unwrap_or_default();
        assert!(
            why.contains("refuses the echo server") && why.contains("minimum cpu"),
            "{skipped:#?}"
        );
    })
    .await;
}

#[tokio::test]
async fn a_record_without_room_is_kept_and_the_node_released_meanwhile() {
    with_namespace("full", |client, namespace| async move {
        let quotas: Api<ResourceQuota> = Api::namespaced(client.clone(), &namespace);
        // The cluster's own certificates take one.
        let quota = serde_json::from_value(json!({
            "metadata": { "name": "few" }, "spec": { "hard": { "count/configmaps": "1" } },
        }));
        quotas
            .create(&PostParams::default(), &quota.expect("a quota"))
            .await
            .expect("a quota");
        eventually(PATIENCE, "the quota is counted", || async {
            quotas.get("few").await.ok()?.status?.used
        })
        .await;
        let spec = r"
blocks: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 50}}
";
        let run = runs::create(&client, &namespace, "homeless", spec).await;
        let uid = run.metadata.uid.expect("a uid");
        let stalled = eventually(
            2 * PATIENCE,
            "the run reports what is in the way",
            || async {
                let run = runs::get(&client, &namespace, "homeless").await;
                let stalled = runs::condition(&run, conditions::STALLED)?;
                (stalled.status == "True").then_some(stalled)
            },
        )
        .await;
        let begun = Instant::now();
        for expected in ["exceeded quota", "make room", "is kept"] {
            assert!(stalled.message.contains(expected), "{}", stalled.message);
        }
        gives_its_node_back(&client, &uid, HELD.saturating_sub(begun.elapsed())).await;
        let left = left_of(&client, &uid).await;
        assert!(
            left.iter().any(|left| left.starts_with("job ")),
            "the result is gone: {left:?}"
        );
        let none = kube::api::DeleteParams::default();
        quotas.delete("few", &none).await.expect("there is room");
        let run = runs::finished(&client, &namespace, "homeless", 120).await;
        runs::assert_measured(&runs::records(&client, &run).await, 1);
    })
    .await;
}
