//! Runs that need no node in common do not wait for each other.

use kube::Api;
use kube::api::DeleteParams;
use wasmbench_api::{BenchmarkRun, conditions};
use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::free;
use wasmbench_e2e::runs::{self, condition};
use wasmbench_e2e::{PATIENCE, eventually};

/// Measures until it is deleted, however long the other run takes, without taking CPU time from it.
const LASTING: &str = r"
blocks: 6
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {throughput: {connections: [1], durationSeconds: 600, warmupSeconds: 0}}
";

const BRIEF: &str = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {warmLatency: {requests: 100}}
";

/// The node of a run that is measuring.
fn measures_on(run: &BenchmarkRun) -> Option<String> {
    let reason = condition(run, conditions::SUCCEEDED)?.reason;
    let node = run.status.as_ref()?.node.as_ref()?;
    (reason == "Measuring").then(|| node.name.clone())
}

#[tokio::test]
async fn runs_on_different_nodes_go_on_in_parallel() {
    with_namespace("parallel", |client, namespace| async move {
        let nodes = free(&client).await;
        assert!(
            nodes.len() > 1,
            "two nodes are needed: hack/cluster up --nodes 4"
        );
        let left = runs::create(&client, &namespace, "left", LASTING).await;
        let node = eventually(PATIENCE, "a run measures", || async {
            measures_on(&runs::get(&client, &namespace, "left").await)
        })
        .await;
        // Another run begins and ends meanwhile, on another node.
        runs::create(&client, &namespace, "right", BRIEF).await;
        let right = runs::finished(&client, &namespace, "right", 120).await;
        let status = right.status.as_ref().expect("a status");
        assert_ne!(status.node.as_ref().expect("a node").name, node);
        runs::assert_measured(&runs::records(&client, &right).await, 1);
        let still = runs::get(&client, &namespace, "left").await;
        assert_eq!(measures_on(&still), Some(node), "{:#?}", still.status);
        let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), &namespace);
        let deleted = api.delete("left", &DeleteParams::default()).await;
        deleted.expect("deleted");
        let uid = left.metadata.uid.expect("a uid");
        eventually(PATIENCE, "nothing of it is left", || async {
            left_of(&client, &uid).await.is_empty().then_some(())
        })
        .await;
    })
    .await;
}
