//! What the operator's work costs others while somebody is measured: CPU time of the control plane, which
//! runs on other nodes in most clusters, and of kubelets, which are on the measured one. Run only by `make
//! bench`.

use std::time::{Duration, Instant};

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::api::{ListParams, Patch, PatchParams, WatchParams};
use kube::{Api, Client};
use serde_json::json;
use wasmbench_api::{BenchmarkRun, conditions, labels};
use wasmbench_core::build::selector;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::selftest::at_most;
use wasmbench_e2e::{PATIENCE, eventually, operator_namespace, processes, runs};

/// How often each kind of work is done, and how often in a second.
const TIMES: u32 = 200;
const PER_SECOND: u32 = 20;

/// A run that starts nothing, whose status changes.
const SUSPENDED: &str = r"
suspend: true
blocks: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [1], durationSeconds: 600, warmupSeconds: 0}}
";

/// CPU time in seconds.
#[derive(Clone, Copy)]
struct Used {
    control_plane: f64,
    kubelets: f64,
    operator: f64,
}

impl Used {
    fn now() -> Self {
        let of = |pid: Option<u32>| processes::cpu_seconds(pid.expect("it runs on this machine"));
        Self {
            control_plane: of(processes::api_server()) + of(processes::etcd()),
            kubelets: processes::kubelets().map(processes::cpu_seconds).sum(),
            operator: of(processes::operator()),
        }
    }

    fn since(self, earlier: Self) -> Self {
        Self {
            control_plane: self.control_plane - earlier.control_plane,
            kubelets: self.kubelets - earlier.kubelets,
            operator: self.operator - earlier.operator,
        }
    }
}

/// One piece of work.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// None: what the machine does anyway.
    Nothing,
    /// A watch is opened, as one that was ended is.
    Watch,
    /// A status is written.
    Status,
    /// Everything that a reconcile of a run reads.
    Pass,
}

impl Work {
    async fn is_done(self, client: &Client, namespace: &str, number: u32) {
        match self {
            Self::Nothing => {}
            Self::Watch => open_watch(client, namespace).await,
            Self::Status => write_status(client, namespace, number).await,
            Self::Pass => read_all(client, namespace).await,
        }
    }
}

async fn open_watch(client: &Client, namespace: &str) {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let params = WatchParams::default().labels(labels::RUN_UID).timeout(1);
    let opened = pods.watch(&params, "0").await;
    opened.map(drop).expect("the watch is opened");
}

async fn write_status(client: &Client, namespace: &str, number: u32) {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let progress = json!({
        "completedTrials": 0, "totalTrials": 2, "text": "0/2", "message": format!("number {number}"),
    });
    let patch = Patch::Merge(json!({ "status": { "progress": progress } }));
    let params = PatchParams::default();
    let written = api.patch_status("suspended", &params, &patch).await;
    written.map(drop).expect("the status is written");
}

async fn read_all(client: &Client, namespace: &str) {
    let own = operator_namespace();
    let probes = format!("{}={}", labels::COMPONENT, labels::COMPONENT_PROBE);
    let probes = ListParams::default().labels(&probes);
    let of_run = ListParams::default().labels(&selector("0"));
    let all = ListParams::default();
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    let of_runs: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let jobs: Api<Job> = Api::namespaced(client.clone(), &own);
    let own_pods: Api<Pod> = Api::namespaced(client.clone(), &own);
    let leases: Api<Lease> = Api::namespaced(client.clone(), &own);
    let classes: Api<RuntimeClass> = Api::all(client.clone());
    let read = futures::try_join!(
        pods.list(&of_run),
        maps.list_metadata(&of_run),
        jobs.list(&probes),
        own_pods.list(&probes),
        leases.list(&of_run),
        classes.list(&all),
        of_runs.get_metadata("suspended"),
    );
    read.map(drop).expect("everything is read");
}

/// What all the work used.
async fn used(client: &Client, namespace: &str, work: Work) -> Used {
    let (before, began) = (Used::now(), Instant::now());
    for number in 0..TIMES {
        work.is_done(client, namespace, number).await;
        let next = Duration::from_secs(1) * (number + 1) / PER_SECOND;
        tokio::time::sleep(next.saturating_sub(began.elapsed())).await;
    }
    Used::now().since(before)
}

#[tokio::test]
#[ignore = "a benchmark: make bench"]
async fn the_operators_calls_cost_the_control_plane_and_no_kubelet() {
    with_namespace("silence", |client, namespace| async move {
        runs::create(&client, &namespace, "suspended", SUSPENDED).await;
        eventually(PATIENCE, "the run is known", || async {
            let run = runs::get(&client, &namespace, "suspended").await;
            run.status.map(drop)
        })
        .await;
        let idle = used(&client, &namespace, Work::Nothing).await;
        for work in [Work::Watch, Work::Status, Work::Pass] {
            let more = used(&client, &namespace, work).await.since(idle);
            let shares = [
                ("control-plane", more.control_plane),
                ("kubelets", more.kubelets),
                ("operator", more.operator),
            ];
            for (who, seconds) in shares {
                let name = format!("silence-{work:?}-{who}").to_lowercase();
                let each = seconds * 1000.0 / f64::from(TIMES);
                at_most(&name, each, "ms-cpu-each", f64::INFINITY);
            }
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "a benchmark: make bench"]
async fn a_user_is_heard_within_five_seconds_while_another_run_is_measured() {
    with_namespace("heard", |client, namespace| async move {
        let lasting = SUSPENDED.replace("suspend: true", "suspend: false");
        runs::create(&client, &namespace, "measuring", &lasting).await;
        runs::measuring(&client, &namespace, "measuring", 120).await;
        runs::create(&client, &namespace, "waiting", &lasting).await;
        is_so(&client, &namespace, "Queued").await;
        let began = Instant::now();
        let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), &namespace);
        let suspend = Patch::Merge(json!({ "spec": { "suspend": true } }));
        let params = PatchParams::default();
        let patched = api.patch("waiting", &params, &suspend).await;
        patched.map(drop).expect("the run is suspended");
        is_so(&client, &namespace, "Suspended").await;
        let seconds = began.elapsed().as_secs_f64();
        assert!(at_most("silence-suspend-is-heard", seconds, "s", 5.0));
    })
    .await;
}

/// Waits until the run `waiting` reports this.
async fn is_so(client: &Client, namespace: &str, reason: &str) {
    eventually(PATIENCE, reason, || async {
        let run = runs::get(client, namespace, "waiting").await;
        let succeeded = runs::condition(&run, conditions::SUCCEEDED)?;
        (succeeded.reason == reason).then_some(())
    })
    .await;
}
