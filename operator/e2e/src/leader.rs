//! Two processes of the operator, of which one leads, and what becomes of a run when that one is paused.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt};
use wasmbench_core::build::leader;

use crate::evidence::left_of;
use crate::kubectl::kubectl;
use crate::processes::{operator_in, send_signal};
use crate::{PATIENCE, answered, eventually, operator_namespace, runs, windows};

/// The service waits: nothing here depends on how fast it is.
const RUN: &str = r"
blocks: 2
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {warmLatency: {requests: 50}}
";

/// The number of trials in [`RUN`].
const TRIALS: usize = 2;

/// The pod whose process leads, and its epoch.
pub async fn leads(client: &Client) -> Option<(String, i32)> {
    let api: Api<Lease> = Api::namespaced(client.clone(), &operator_namespace());
    let lease = api.get_opt(leader::NAME).await.ok()??;
    let holder = leader::holder(&lease)?.to_owned();
    Some((holder, lease.spec?.lease_transitions?))
}

/// Runs `test` while the operator has two processes.
pub async fn with_two_processes(client: &Client, test: impl Future<Output = ()>) {
    scale(client, 2).await;
    let tested = AssertUnwindSafe(test).catch_unwind().await;
    scale(client, 1).await;
    if let Err(panic) = tested {
        std::panic::resume_unwind(panic);
    }
}

/// Waits until the operator has as many pods, and all of them are ready.
async fn scale(client: &Client, processes: usize) {
    let namespace = operator_namespace();
    let operator = ["deployment/wasmbench", "-n", &namespace];
    let replicas = format!("--replicas={processes}");
    let scaled = kubectl(&[&["scale", &replicas][..], &operator].concat()).await;
    assert!(scaled.ok, "{scaled:?}");
    let status = ["rollout", "status", "--timeout=600s"];
    let rolled_out = kubectl(&[&status[..], &operator].concat()).await;
    assert!(rolled_out.ok, "{rolled_out:?}");
    let api: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let ours = ListParams::default().labels("app.kubernetes.io/component=operator");
    eventually(PATIENCE, "there are as many pods", || async {
        let pods = api.list(&ours).await.ok()?.items;
        (pods.len() == processes).then_some(())
    })
    .await;
}

/// A process that was stopped. It goes on when this is dropped, also when a test fails.
struct Stopped(u32);

impl Drop for Stopped {
    fn drop(&mut self) {
        // The kubelet kills a container that does not answer for a minute.
        send_signal("CONT", self.0);
    }
}

/// Stops the process that leads in the middle of a trial, for `pause` at least. Another one takes over, each
/// trial is measured once, and the first process ends. Returns how long the takeover took.
pub async fn survives_a_pause(client: &Client, namespace: &str, pause: Duration) -> Duration {
    let first = eventually(PATIENCE, "a process leads", || leads(client)).await;
    runs::create(client, namespace, "survivor", RUN).await;
    runs::measuring(client, namespace, "survivor", 120).await;
    let pods: Api<Pod> = Api::namespaced(client.clone(), &operator_namespace());
    let pod = answered("the leader's pod is read", || pods.get(&first.0)).await;
    let uid = pod.uid().expect("a uid");
    let pid = operator_in(&uid).expect("the leader runs on this machine");
    assert!(send_signal("STOP", pid));
    let stopped = Stopped(pid);
    let since = Instant::now();
    let second = eventually(PATIENCE, "another process leads", || async {
        leads(client).await.filter(|(holder, _)| *holder != first.0)
    })
    .await;
    let took = since.elapsed();
    assert_eq!(second.1, first.1 + 1);
    runs::recorded(client, namespace, "survivor", 1).await;
    tokio::time::sleep(pause.saturating_sub(since.elapsed())).await;
    drop(stopped);
    eventually(PATIENCE, "the first process ends", || async {
        (operator_in(&uid) != Some(pid)).then_some(())
    })
    .await;
    let run = runs::finished(client, namespace, "survivor", 120).await;
    let records = runs::records(client, &run).await;
    runs::assert_measured(&records, TRIALS);
    let mut measured: Vec<_> = records.iter().map(windows::whole).collect();
    measured.sort_unstable();
    let overlaps = measured.windows(2).any(|two| two[1].0 < two[0].1);
    assert!(!overlaps, "{measured:?}");
    assert_eq!(leads(client).await, Some(second));
    let uid = run.metadata.uid.as_deref().expect("a uid");
    assert_eq!(left_of(client, uid).await, Vec::<String>::new());
    took
}
