//! A node that takes no pods for a while costs neither a trial nor a run.

use kube::Client;
use wasmbench_api::conditions;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::{Changed, placement, with_own_node};
use wasmbench_e2e::{PATIENCE, eventually, runs};

const SPEC: &str = r"
blocks: 4
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {warmLatency: {requests: 50, warmupRequests: 10}}
";
const PASSING: &str = "e2e.wasmbench.dev/passing";

#[tokio::test]
async fn a_taint_and_a_cordon_cost_neither_a_trial_nor_a_run() {
    with_namespace("away", |client, namespace| async move {
        with_own_node(&client, async |node| {
            taken_away(&client, &namespace, &node).await;
        })
        .await;
    })
    .await;
}

async fn taken_away(client: &Client, namespace: &str, node: &str) {
    let spec = SPEC.to_owned() + &placement(node);
    runs::create(client, namespace, "halfway", &spec).await;
    runs::recorded(client, namespace, "halfway", 1).await;
    let taint = Changed::tainted(node, PASSING);
    let waiting = spec.replace("blocks: 4", "blocks: 1");
    runs::create(client, namespace, "waiting", &waiting).await;
    for name in ["halfway", "waiting"] {
        waits_because(client, namespace, (name, PASSING)).await;
    }
    let cordon = Changed::cordoned(node);
    drop(taint);
    for name in ["halfway", "waiting"] {
        waits_because(client, namespace, (name, "is cordoned")).await;
    }
    drop(cordon);
    for (name, trials) in [("halfway", 4), ("waiting", 1)] {
        let run = runs::finished(client, namespace, name, 120).await;
        let records = runs::records(client, &run).await;
        runs::assert_measured(&records, trials);
    }
}

/// Waits until the run is queued with this message.
async fn waits_because(client: &Client, namespace: &str, (name, text): (&str, &str)) {
    let what = format!("{name} says '{text}'");
    eventually(PATIENCE, &what, || async {
        let run = runs::get(client, namespace, name).await;
        let succeeded = runs::condition(&run, conditions::SUCCEEDED)?;
        (succeeded.reason == "Queued" && succeeded.message.contains(text)).then_some(())
    })
    .await;
}
