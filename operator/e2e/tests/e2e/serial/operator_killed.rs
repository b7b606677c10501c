//! An operator that is killed repeatedly.

use std::collections::BTreeMap;
use std::time::Duration;

use wasmbench_e2e::evidence::left_of;
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::processes::{operator, send_signal};
use wasmbench_e2e::scale::{NAMESPACE, Service};
use wasmbench_e2e::{PATIENCE, eventually, operator_namespace, runs};

const SHORT: &str = r"
blocks: 3
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {bodySuffix: slept}}]
sweeps:
  warmLatency: {requests: 100}
  throughput: {connections: [4], durationSeconds: 1, warmupSeconds: 0}
";

/// Kills the operator with SIGKILL, which nothing can catch. Also deletes the pod, because the
/// kubelet would wait longer before each restart of its container.
async fn kill_the_operator() {
    // The kubelet may have restarted the container once more before it saw that the pod is being
    // deleted. Then the process killed last time is gone as well, and the next pod is on its way.
    let killed = eventually(PATIENCE, "an operator runs", || async {
        let pid = operator()?;
        send_signal("KILL", pid).then_some(pid)
    })
    .await;
    let namespace = operator_namespace();
    let selector = "app.kubernetes.io/component=operator";
    let delete = [
        "delete",
        "pod",
        "--wait=false",
        "-n",
        &namespace,
        "-l",
        selector,
    ];
    assert!(kubectl(&delete).await.ok);
    // The next kill must hit a living operator.
    eventually(PATIENCE, "an operator runs again", || async {
        operator().filter(|pid| *pid != killed)
    })
    .await;
}

#[tokio::test]
async fn an_operator_killed_ten_times_loses_and_repeats_nothing() {
    with_namespace("kill", |client, namespace| async move {
        runs::create(&client, &namespace, "survivor", SHORT).await;
        // Odd pauses, so that the kills hit every part of a trial.
        for pause in [900, 2300, 3700, 1100, 4900, 2900, 600, 5300, 3100, 1700] {
            tokio::time::sleep(Duration::from_millis(pause)).await;
            kill_the_operator().await;
        }
        let run = runs::finished(&client, &namespace, "survivor", 300).await;
        let records = runs::records(&client, &run).await;
        runs::assert_measured(&records, 12);
        let mut blocks: BTreeMap<u32, usize> = BTreeMap::new();
        for record in &records {
            *blocks.entry(record.trial.block).or_default() += 1;
        }
        assert!(
            blocks.len() == 3 && blocks.values().all(|cells| *cells == 4),
            "{blocks:?}"
        );
        let uid = run.metadata.uid.as_deref().expect("a uid");
        assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    })
    .await;
}

/// The kills hit the scale-up, the start of the pod, the measurement, the scale-down and the wait for the end of
/// the pod: a trial takes a few seconds, and the pauses differ.
#[tokio::test]
async fn an_operator_killed_between_scale_up_and_scale_down_leaves_the_deployment_at_0() {
    let client = wasmbench_e2e::client().await;
    let shop = Service::offered(&client, "killed").await;
    let embedded = "- {name: embedded, preset: wasmtime-embedded}";
    let spec = SHORT.replace(embedded, &format!("- {}", shop.variant()));
    let spec = spec.replace("blocks: 3", "blocks: 5");
    runs::create(&client, NAMESPACE, &shop.name, &spec).await;
    for pause in [3100, 700, 1900, 4300, 2500] {
        eventually(PATIENCE, "it is scaled up", || async {
            (shop.replicas().await > 0).then_some(())
        })
        .await;
        tokio::time::sleep(Duration::from_millis(pause)).await;
        kill_the_operator().await;
    }
    let run = runs::finished(&client, NAMESPACE, &shop.name, 300).await;
    let records = runs::records(&client, &run).await;
    runs::assert_measured(&records, 20);
    shop.is_at_rest().await;
    let uid = run.metadata.uid.as_deref().expect("a uid");
    assert_eq!(left_of(&client, uid).await, Vec::<String>::new());
    kubectl(&["delete", "benchmarkrun", &shop.name, "-n", NAMESPACE]).await;
    shop.remove().await;
}
