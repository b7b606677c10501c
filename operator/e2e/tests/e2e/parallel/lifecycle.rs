//! Delete, suspend, queue, expire: nothing is lost, repeated or left behind. `make selftest`
//! measures how soon a run stops.

use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::conditions;
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::{placement, with_own_node};
use wasmbench_e2e::{PATIENCE, eventually, runs};
use wasmbench_results::read::period::Period;
use wasmbench_results::summary::collect::{RunInput, summarize};

/// The service waits, and leaves CPU time to the other tests.
const SHORT: &str = r"
blocks: 4
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {warmLatency: {requests: 50, warmupRequests: 10}}
";

/// A run whose windows alone take longer than [`PATIENCE`].
const LONG: &str = r"
blocks: 50
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {warmLatency: {requests: 400, warmupRequests: 10}}
";

async fn patch_spec(client: &Client, namespace: &str, name: &str, spec: serde_json::Value) {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let patch = Patch::Merge(json!({ "spec": spec }));
    api.patch(name, &PatchParams::default(), &patch)
        .await
        .expect("the patch is accepted");
}

/// Waits until the run's pods and Jobs are gone, and with them its claim on the node, which it
/// holds until it has stopped. That takes as long as a busy node needs.
async fn stops_and_leaves_nothing(client: &Client, uid: &str) {
    eventually(PATIENCE, "everything of the run is gone", || async {
        left_of(client, uid).await.is_empty().then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_run_deleted_halfway_stops_and_leaves_nothing() {
    with_namespace("delete", |client, namespace| async move {
        let run = runs::create(&client, &namespace, "halfway", LONG).await;
        runs::recorded(&client, &namespace, "halfway", 1).await;
        let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), &namespace);
        api.delete("halfway", &DeleteParams::default())
            .await
            .expect("deleted");
        let uid = run.metadata.uid.expect("a uid");
        stops_and_leaves_nothing(&client, &uid).await;
        // The garbage collector may take a while.
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
        eventually(PATIENCE, "the run's records are gone", || async {
            let left = maps.list_metadata(&ListParams::default()).await.ok()?.items;
            let mut names = left.iter().map(ResourceExt::name_any);
            names.all(|name| !name.contains("halfway")).then_some(())
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn a_suspended_run_stops_and_goes_on_later() {
    with_namespace("suspend", |client, namespace| async move {
        let run = runs::create(&client, &namespace, "pausing", SHORT).await;
        runs::recorded(&client, &namespace, "pausing", 2).await;
        patch_spec(&client, &namespace, "pausing", json!({"suspend": true})).await;
        let uid = run.metadata.uid.expect("a uid");
        stops_and_leaves_nothing(&client, &uid).await;
        let paused = eventually(PATIENCE, "the run reports that it is suspended", || async {
            let run = runs::get(&client, &namespace, "pausing").await;
            let succeeded = runs::condition(&run, conditions::SUCCEEDED)?;
            (succeeded.reason == "Suspended").then_some(run)
        })
        .await;
        let before = runs::records(&client, &paused).await;
        assert!(before.len() < 4, "it went on: {}", before.len());
        patch_spec(&client, &namespace, "pausing", json!({"suspend": false})).await;
        let run = runs::finished(&client, &namespace, "pausing", 200).await;
        let after = runs::records(&client, &run).await;
        assert_eq!(after.len(), 4);
        for record in &before {
            assert!(
                after.contains(record),
                "the record of {} changed",
                record.trial
            );
        }
    })
    .await;
}

#[tokio::test]
async fn the_second_run_for_a_node_queues_and_says_so() {
    with_namespace("queue", |client, namespace| async move {
        with_own_node(&client, async |node| {
            queue(&client, &namespace, &node).await;
        })
        .await;
    })
    .await;
}

async fn queue(client: &Client, namespace: &str, node: &str) {
    let one = SHORT.replace("blocks: 4", "blocks: 1") + &placement(node);
    runs::create(client, namespace, "first", &one).await;
    // Create the second run soon: it has nothing to wait for once the first has ended.
    eventually(PATIENCE, "the first run has the node", || async {
        let run = runs::get(client, namespace, "first").await;
        let succeeded = runs::condition(&run, conditions::SUCCEEDED)?;
        (succeeded.reason == "Measuring").then_some(())
    })
    .await;
    runs::create(client, namespace, "second", &one).await;
    // Its place is written between the windows of the first. Runs for any node may come before it.
    let text = [
        &format!("waiting for node {node}"),
        "in the queue; begins about",
    ];
    eventually(PATIENCE, "the second run has its place", || async {
        let run = runs::get(client, namespace, "second").await;
        let succeeded = runs::condition(&run, conditions::SUCCEEDED)?;
        let is_placed = text.iter().all(|text| succeeded.message.contains(text));
        (succeeded.reason == "Queued" && is_placed).then_some(())
    })
    .await;
    let first = runs::finished(client, namespace, "first", 90).await;
    let second = runs::finished(client, namespace, "second", 90).await;
    let last_of_first = measured(client, &first).await.ended_at;
    let first_of_second = measured(client, &second).await.started_at;
    assert!(
        first_of_second >= last_of_first,
        "the second was measured at {first_of_second}, before the first had been at {last_of_first}"
    );
}

/// When the run was measured. Its report is written afterwards, while the next run has the node.
async fn measured(client: &Client, run: &BenchmarkRun) -> Period {
    let records = runs::records(client, run).await;
    let summary = summarize(&RunInput::new(run, 0), &records);
    summary.period.expect("a run with records has a period")
}

#[tokio::test]
async fn a_finished_run_expires_and_its_spec_cannot_change() {
    with_namespace("ttl", |client, namespace| async move {
        let one = SHORT.replace("blocks: 4", "blocks: 1");
        runs::create(&client, &namespace, "brief", &one).await;
        let change = [
            "patch",
            "brun",
            "brief",
            "-n",
            &namespace,
            "--type=merge",
            "-p",
        ];
        let refused = kubectl(&[&change[..], &[r#"{"spec":{"blocks":9}}"#]].concat()).await;
        assert!(
            !refused.ok && refused.stderr.contains("create a new BenchmarkRun"),
            "{refused:?}"
        );
        runs::finished(&client, &namespace, "brief", 90).await;
        patch_spec(
            &client,
            &namespace,
            "brief",
            json!({"ttlSecondsAfterFinished": 0}),
        )
        .await;
        let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), &namespace);
        eventually(PATIENCE, "the run expires", || async {
            let found = api.get_opt("brief").await.ok()?;
            found.is_none().then_some(())
        })
        .await;
    })
    .await;
}
