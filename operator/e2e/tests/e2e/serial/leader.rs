//! Two operators, of which one was paused: what it does afterwards reaches nobody. `make selftest` pauses
//! it for longer.

use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::{Value, json};
use wasmbench_api::labels;
use wasmbench_core::build::component_selector;
use wasmbench_e2e::leader::{survives_a_pause, with_two_processes};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::policy::without_policy;
use wasmbench_e2e::tenant::{account, assert_refused, client_as};
use wasmbench_e2e::{PATIENCE, eventually, operator_namespace, runs};

const LONG: &str = r"
blocks: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {throughput: {connections: [1], durationSeconds: 15, warmupSeconds: 0}}
";

#[tokio::test]
async fn another_process_takes_over_from_a_paused_one_and_each_trial_counts_once() {
    with_namespace("paused", |client, namespace| async move {
        let test = Box::pin(async {
            let took = survives_a_pause(&client, &namespace, Duration::ZERO).await;
            println!("another process led after {} s", took.as_secs());
        });
        with_two_processes(&client, test).await;
    })
    .await;
}

/// The Job that measures the run with this uid, once its pod has an epoch and a trial.
async fn probe(jobs: &Api<Job>, run_uid: &str) -> Job {
    let selector = component_selector(run_uid, labels::COMPONENT_PROBE);
    let of_run = ListParams::default().labels(&selector);
    eventually(PATIENCE, "a probe measures", || async {
        let found = jobs.list(&of_run).await.ok()?.items;
        let is_scout = |job: &Job| job.labels().get(labels::BLOCK).is_some_and(|b| b == "0");
        found.into_iter().find(|job| !is_scout(job))
    })
    .await
}

/// The same Job under another name, as an operator of an earlier epoch launches it.
fn late(probe: &Job) -> Job {
    let mut job = serde_json::to_value(probe).expect("JSON");
    let labels = job["metadata"]["labels"].clone();
    let annotations = job["metadata"]["annotations"].clone();
    job["metadata"] = json!({ "name": "late", "labels": labels, "annotations": annotations });
    job["status"] = Value::Null;
    job["spec"]["selector"] = Value::Null;
    for pointer in ["/metadata/labels", "/spec/template/metadata/labels"] {
        let labels = job.pointer_mut(pointer).expect("labels");
        let labels = labels.as_object_mut().expect("a map");
        // Those of the Job controller.
        labels.retain(|key, _| !key.contains("job-name") && !key.contains("controller-uid"));
        labels.insert(labels::EPOCH.into(), json!("0"));
    }
    serde_json::from_value(job).expect("a Job")
}

async fn check(client: Client, namespace: String) {
    let run = runs::create(&client, &namespace, "disturbed", LONG).await;
    let uid = run.metadata.uid.expect("a uid");
    runs::measuring(&client, &namespace, "disturbed", 120).await;
    let own = operator_namespace();
    let jobs: Api<Job> = Api::namespaced(client.clone(), &own);
    let first = probe(&jobs, &uid).await;
    let operator: Api<Job> = Api::namespaced(client_as(&account("wasmbench")).await, &own);
    let late = late(&first);
    let launched = operator.create(&PostParams::default(), &late).await;
    assert_refused(launched, "has taken over");
    let checked = Box::pin(async {
        eventually(PATIENCE, "nothing refuses it", || async {
            operator.create(&PostParams::default(), &late).await.ok()
        })
        .await;
        eventually(PATIENCE, "it is removed", || async {
            let found = jobs.get_metadata_opt("late").await.ok()?;
            found.is_none().then_some(())
        })
        .await;
        eventually(PATIENCE, "the trial is measured again", || async {
            let again = probe(&jobs, &uid).await;
            (again.metadata.uid != first.metadata.uid).then_some(())
        })
        .await;
    });
    without_policy(&client, "leader", checked).await;
    let run = runs::finished(&client, &namespace, "disturbed", 120).await;
    runs::assert_measured(&runs::records(&client, &run).await, 1);
}

#[tokio::test]
async fn a_late_probe_is_refused_and_without_the_policy_removed_and_its_neighbour_measured_again() {
    with_namespace("late", |client, namespace| {
        Box::pin(check(client, namespace))
    })
    .await;
}
