//! What an operator costs that does nothing except follow a thousand finished runs. Run only by
//! `make bench`.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, Pod};
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use serde_json::json;
use wasmbench_api::conditions::{FINISHED, is_true};
use wasmbench_api::status::SummaryRow;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_e2e::kubectl::kubectl;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::selftest::at_most;
use wasmbench_e2e::{PATIENCE, answered, eventually, operator, operator_namespace, runs};

use super::pods::trials;

const FINISHED_RUNS: usize = 1000;
/// Rows in each of their statuses.
const ROWS: usize = 24;

const MINUTE: Duration = Duration::from_mins(1);
/// By then a new operator has done its initial work.
const START: Duration = Duration::from_secs(10);

/// Creates a thousand finished runs, each with the status of one that was really measured.
async fn fill(client: &Client, namespace: &str, measured: &BenchmarkRun) {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let names: Vec<String> = (1..=FINISHED_RUNS)
        .map(|number| format!("finished-{number:04}"))
        .collect();
    for name in &names {
        let mut run = BenchmarkRun::new(name, measured.spec.clone());
        run.spec.suspend = true;
        api.create(&PostParams::default(), &run)
            .await
            .expect("the run is created");
    }
    // Waits for the operator to write its statuses first: it would overwrite them later.
    let all = ListParams::default();
    eventually(PATIENCE, "the operator has seen the runs", || async {
        let runs = answered("runs are listed", || api.list(&all)).await;
        let is_observed = |run: &BenchmarkRun| run.status.is_some();
        runs.items.iter().all(is_observed).then_some(())
    })
    .await;
    let mut status = measured.status.clone().expect("a status");
    let rows = status.summary.iter().cycle().take(ROWS).enumerate();
    status.summary = rows
        .map(|(at, row)| SummaryRow {
            variant: format!("{}-{at}", row.variant),
            ..row.clone()
        })
        .collect();
    let status = Patch::Merge(json!({ "status": status }));
    for name in &names {
        api.patch_status(name, &PatchParams::default(), &status)
            .await
            .expect("the status is written");
    }
}

/// The number of runs that have ended.
async fn finished(client: &Client, namespace: &str) -> usize {
    let api: Api<BenchmarkRun> = Api::namespaced(client.clone(), namespace);
    let all = ListParams::default();
    let runs = answered("runs are listed", || api.list(&all)).await;
    let has_ended = |run: &&BenchmarkRun| {
        let status = run.status.as_ref();
        status.is_some_and(|status| is_true(&status.conditions, FINISHED))
    };
    runs.items.iter().filter(has_ended).count()
}

/// Waits until the leftovers of earlier tests are gone: their removal is work for the operator.
pub(super) async fn nothing_ends(client: &Client) {
    let api: Api<Namespace> = Api::all(client.clone());
    let all = ListParams::default();
    let what = "no namespace is on its way out";
    eventually(Duration::from_mins(5), what, || async {
        let namespaces = answered("namespaces are listed", || api.list(&all)).await;
        let ends = |namespace: &Namespace| namespace.metadata.deletion_timestamp.is_some();
        (!namespaces.items.iter().any(ends)).then_some(())
    })
    .await;
}

/// The number of reconciles since the operator started.
async fn reconciles(pod: &str) -> f64 {
    let namespace = operator_namespace();
    let path = format!("/api/v1/namespaces/{namespace}/pods/{pod}:8080/proxy/metrics");
    let metrics = kubectl(&["get", "--raw", &path]).await.stdout;
    let count = "wasmbench_reconcile_duration_seconds_count";
    let mut lines = metrics.lines().filter(|line| line.starts_with(count));
    lines
        .next()
        .and_then(|line| line.split(' ').next_back())
        .and_then(|value| value.parse().ok())
        .unwrap_or_else(|| panic!("{count} is missing:\n{metrics}"))
}

/// The time from the operator's first log line to the one that reports that all runs are listed.
async fn seconds_to_ready(pod: &str) -> f64 {
    let log = kubectl(&["logs", "-n", &operator_namespace(), pod])
        .await
        .stdout;
    let at = |text: &str| {
        let mut lines = log.lines().filter(|line| line.contains(text));
        let line: serde_json::Value = serde_json::from_str(lines.next()?).ok()?;
        line["timestamp"].as_str()?.parse::<jiff::Timestamp>().ok()
    };
    let (start, ready) = at("operator starts")
        .zip(at("all runs are listed"))
        .expect(&log);
    ready.duration_since(start).as_secs_f64()
}

/// The identity and the version of an object.
type Version = (Option<String>, Option<String>);

async fn versions_of<K>(client: &Client, selected: &ListParams) -> Vec<Version>
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug,
{
    let api: Api<K> = Api::all(client.clone());
    let objects = answered("objects are listed", || api.list(selected)).await;
    let version = |object: &K| (object.uid(), object.resource_version());
    objects.items.iter().map(version).collect()
}

/// The versions of everything that the operator can write: each write that changes something
/// creates a new one.
async fn versions(client: &Client) -> BTreeSet<Version> {
    let all = ListParams::default();
    let ours = ListParams::default().labels(&format!("{}={}", labels::PART_OF, labels::APP));
    // The Lease of the leader is renewed every few seconds.
    let claims = format!("{}={}", labels::COMPONENT, labels::COMPONENT_NODE_LEASE);
    let claims = ListParams::default().labels(&claims);
    let found = [
        versions_of::<BenchmarkRun>(client, &all).await,
        versions_of::<ConfigMap>(client, &ours).await,
        versions_of::<Lease>(client, &claims).await,
        versions_of::<Job>(client, &ours).await,
        versions_of::<Pod>(client, &ours).await,
    ];
    found.into_iter().flatten().collect()
}

#[tokio::test]
#[ignore = "a benchmark: make bench"]
async fn an_idle_operator_with_a_thousand_finished_runs_is_small_and_silent() {
    with_namespace("idle", |client, namespace| async move {
        // The shortest windows: only a complete status matters.
        runs::create(&client, &namespace, "measured", &trials(1)).await;
        let measured = runs::finished(&client, &namespace, "measured", 300).await;
        fill(&client, &namespace, &measured).await;
        nothing_ends(&client).await;
        let pod = operator::restarted().await;
        tokio::time::sleep(START).await;
        assert_eq!(finished(&client, &namespace).await, 1 + FINISHED_RUNS);
        let ready = seconds_to_ready(&pod).await;
        let (reconciled, known) = (reconciles(&pod).await, versions(&client).await);
        tokio::time::sleep(MINUTE).await;
        let reconciled = reconciles(&pod).await - reconciled;
        let written = versions(&client).await.difference(&known).count() as f64;
        let keep = [
            at_most("idle-reconciles", reconciled, "per-minute", 0.0),
            at_most("idle-writes", written, "per-minute", 0.0),
            at_most("operator-ready", ready, "s", 3.0),
            at_most("operator-rss-idle", operator::memory("VmRSS"), "MiB", 40.0),
        ];
        assert!(keep.iter().all(|keeps| *keeps));
    })
    .await;
}
