//! What a queue costs: the operator's CPU time and calls while short runs are measured, and others wait.
//! Nodes beyond the cluster's own are objects without a kubelet, which take no pods. Run only by `make
//! bench`.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Node;
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, Client};
use serde_json::json;
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::audit::{self, Call};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::selftest::at_most;
use wasmbench_e2e::{answered, eventually, operator_namespace, processes, runs, windows};

use super::idle::nothing_ends;

/// How many nodes there are, and how many runs wait. The first number of runs is what the others are
/// compared with.
const NODES: [usize; 3] = [1, 50, 200];
const WAITING: [usize; 3] = [0, 100, 1000];

/// For how long each is looked at.
const INTERVAL: Duration = Duration::from_mins(1);
/// By then the operator has placed all new runs.
const PLACED: Duration = Duration::from_mins(10);
/// A label of nodes without a kubelet.
const HOLLOW: &str = "e2e.wasmbench.dev/hollow";

/// One trial of five seconds, besides the scout.
const SHORT: &str = r"
blocks: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: hello, expect: {body: hello}}]
sweeps: {throughput: {connections: [1], durationSeconds: 5, warmupSeconds: 0}}
";

/// Creates `count` nodes without a kubelet.
async fn create_nodes(client: &Client, count: usize) {
    let api: Api<Node> = Api::all(client.clone());
    for number in 0..count {
        let name = format!("hollow-{number:03}");
        let node = serde_json::from_value(json!({
            "metadata": { "name": name, "labels": {
                "kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64", HOLLOW: "yes",
            } },
            "spec": { "unschedulable": true },
        }));
        let node: Node = node.expect("a node");
        let created = api.create(&PostParams::default(), &node).await;
        created.expect("the node is created");
    }
}

async fn remove_nodes(client: &Client) {
    let api: Api<Node> = Api::all(client.clone());
    let hollow = ListParams::default().labels(HOLLOW);
    let deleted = api
        .delete_collection(&DeleteParams::default(), &hollow)
        .await;
    deleted.map(drop).expect("the nodes are deleted");
}

async fn create_runs(client: &Client, namespace: &str, from: usize, upto: usize) {
    for number in from..upto {
        runs::create(client, namespace, &format!("waiting-{number:04}"), SHORT).await;
    }
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let all = ListParams::default();
    eventually(PLACED, "each run has its place", || async {
        let runs = answered("runs are listed", || api.list(&all)).await;
        let is_placed = |run: &BenchmarkRun| run.status.is_some();
        runs.items.iter().all(is_placed).then_some(())
    })
    .await;
}

/// Creates one run after the other, until it is stopped: nobody waits.
async fn feed(client: &Client, namespace: &str) {
    for number in 0.. {
        let name = format!("fed-{number}");
        runs::create(client, namespace, &name, SHORT).await;
        runs::finished(client, namespace, &name, 300).await;
    }
}

/// What the operator did in one interval.
struct Cost {
    /// Runs that ended.
    runs: usize,
    cpu_milliseconds: f64,
    calls: usize,
    /// Of these, in timed windows.
    calls_in_windows: usize,
}

impl Cost {
    fn cpu_per_run(&self) -> f64 {
        self.cpu_milliseconds / self.runs as f64
    }

    fn calls_per_run(&self) -> f64 {
        self.calls as f64 / self.runs as f64
    }
}

async fn measured(client: &Client, namespace: &str, is_fed: bool) -> Cost {
    let pid = processes::operator().expect("the operator runs on this machine");
    let (began, cpu) = (Timestamp::now(), processes::cpu_seconds(pid));
    if is_fed {
        let fed = tokio::time::timeout(INTERVAL, feed(client, namespace)).await;
        assert!(fed.is_err(), "it never ends by itself");
    } else {
        tokio::time::sleep(INTERVAL).await;
    }
    let (ended, cpu) = (Timestamp::now(), processes::cpu_seconds(pid) - cpu);
    let over = ended_between(client, namespace, began, ended).await;
    assert!(!over.is_empty(), "no run has ended");
    let user = format!("system:serviceaccount:{}:wasmbench", operator_namespace());
    let calls = audit::calls_of(&user, audit::log());
    let (from, upto) = (began.as_nanosecond(), ended.as_nanosecond());
    let calls: Vec<Call> = audit::within(&calls, from, upto)
        .into_iter()
        .cloned()
        .collect();
    let mut in_windows = 0;
    for run in &over {
        let records = runs::records(client, run).await;
        let measured = records.iter().filter(|record| record.load().is_some());
        for (start, end) in measured.map(windows::whole) {
            in_windows += audit::within(&calls, start, end).len();
        }
    }
    Cost {
        runs: over.len(),
        cpu_milliseconds: cpu * 1000.0,
        calls: calls.len(),
        calls_in_windows: in_windows,
    }
}

/// The runs that ended in this time.
async fn ended_between(
    client: &Client,
    namespace: &str,
    from: Timestamp,
    upto: Timestamp,
) -> Vec<BenchmarkRun> {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let all = ListParams::default();
    let runs = answered("runs are listed", || api.list(&all)).await;
    let ended = |run: &BenchmarkRun| {
        let completion = run.status.as_ref()?.completion_time.as_ref()?;
        Some(completion.0)
    };
    let mut over = runs.items;
    over.retain(|run| ended(run).is_some_and(|time| from <= time && time <= upto));
    over
}

/// Prints what one interval cost, and returns whether no run was disturbed.
fn print(cost: &Cost, waiting: usize, nodes: usize) -> bool {
    let figures = [
        ("cpu", cost.cpu_milliseconds, "ms-per-minute"),
        ("calls", cost.calls as f64, "per-minute"),
        ("runs", cost.runs as f64, "per-minute"),
    ];
    for (what, value, unit) in figures {
        let name = format!("queue-{what}-{waiting}-waiting-{nodes}-nodes");
        at_most(&name, value, unit, f64::INFINITY);
    }
    let name = format!("queue-calls-in-windows-{waiting}-waiting-{nodes}-nodes");
    at_most(&name, cost.calls_in_windows as f64, "calls", 0.0)
}

/// Prints what a run costs with `most` runs waiting, compared with one for which nobody waits.
fn print_ratios(costs: &[Cost], nodes: usize) -> bool {
    let (Some(none), Some(most)) = (costs.first(), costs.last()) else {
        return false;
    };
    let ratios = [
        ("cpu", most.cpu_per_run() / none.cpu_per_run()),
        ("calls", most.calls_per_run() / none.calls_per_run()),
    ];
    let keeps = ratios.map(|(what, ratio)| {
        let name = format!("queue-{what}-of-a-run-{nodes}-nodes-1000-waiting-vs-0");
        at_most(&name, ratio, "ratio", 2.0)
    });
    keeps.iter().all(|keeps| *keeps)
}

#[tokio::test]
#[ignore = "a benchmark: make bench"]
async fn a_run_costs_the_operator_at_most_twice_as_much_when_a_thousand_wait() {
    let mut keeps = vec![];
    for nodes in NODES {
        let mut costs = vec![];
        let (costs_of_level, keeps_of_level) = (&mut costs, &mut keeps);
        with_namespace("queue", |client, namespace| async move {
            nothing_ends(&client).await;
            create_nodes(&client, nodes - 1).await;
            let mut created = 0;
            for waiting in WAITING {
                create_runs(&client, &namespace, created, waiting).await;
                created = waiting;
                let cost = measured(&client, &namespace, waiting == 0).await;
                keeps_of_level.push(print(&cost, waiting, nodes));
                costs_of_level.push(cost);
            }
            remove_nodes(&client).await;
        })
        .await;
        keeps.push(print_ratios(&costs, nodes));
    }
    assert!(keeps.iter().all(|keeps| *keeps));
}
