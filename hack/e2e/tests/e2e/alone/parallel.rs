//! Runs that need no node in common do not wait for each other.

use kube::Api;
use kube::api::ListParams;
use wasmbench_api::{BenchmarkRun, conditions};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::free;
use wasmbench_e2e::runs::{self, condition};
use wasmbench_e2e::{PATIENCE, answered, eventually};

const LASTING: &str = r"
blocks: 1
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [1], durationSeconds: 20, warmupSeconds: 0}}
";

/// The node of a run that measures.
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
        for name in ["left", "right"] {
            runs::create(&client, &namespace, name, LASTING).await;
        }
        let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), &namespace);
        let all = ListParams::default();
        let [left, right] =
            eventually(PATIENCE, "both runs measure at the same moment", || async {
                // One answer, so that it is one moment.
                let listed = answered("runs", || api.list(&all)).await;
                let found: Vec<String> = listed.items.iter().filter_map(measures_on).collect();
                <[String; 2]>::try_from(found).ok()
            })
            .await;
        assert_ne!(left, right);
        for name in ["left", "right"] {
            let run = runs::finished(&client, &namespace, name, 120).await;
            let outcomes = runs::outcomes(&runs::records(&client, &run).await);
            assert_eq!(outcomes.len(), 1, "{outcomes:#?}");
            assert!(outcomes.values().all(|o| o == "Measured"), "{outcomes:#?}");
        }
    })
    .await;
}
