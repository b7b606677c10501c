//! What a tenant may try to get beyond their namespace, and what somebody may try with a stolen
//! token: [the threat model](../../../../../docs/security.md).

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, ResourceQuota};
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, ResourceExt};
use serde_json::json;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule, conditions, labels};
use wasmbench_core::build::leader::holder;
use wasmbench_core::build::{component_selector, config_map};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::nodes::{placement, with_own_node};
use wasmbench_e2e::tenant::{account, assert_refused, client_as, tenant};
use wasmbench_e2e::{PATIENCE, eventually, operator_namespace, runs};
use wasmbench_model::wire::record::RECORD_SCHEMA;
use wasmbench_results::runs::history::stored::HISTORY_KEY;

/// The service waits, and leaves CPU time to the other tests.
const TINY: &str = r"
blocks: 1
noiseFloor: false
variants: [{name: native, preset: native}]
workloads: [{name: sleep, path: '/sleep?ms=20', expect: {body: slept}}]
sweeps: {warmLatency: {requests: 50}}
";

/// Checks whether a request would pass, without changing anything.
fn dry() -> PostParams {
    PostParams {
        dry_run: true,
        ..PostParams::default()
    }
}

fn dry_deletion() -> DeleteParams {
    DeleteParams {
        dry_run: true,
        ..DeleteParams::default()
    }
}

/// A pod that the namespace's pod security standard admits.
fn restricted() -> serde_json::Value {
    json!({
        "securityContext": { "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" } },
        "containers": [{
            "name": "a", "image": "b",
            "securityContext": { "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] } },
        }],
    })
}

fn map(value: serde_json::Value) -> ConfigMap {
    serde_json::from_value(value).expect("a ConfigMap")
}

#[tokio::test]
async fn the_operators_token_changes_nothing_of_the_clusters_own() {
    let operator = client_as(&account("wasmbench")).await;
    let maps: Api<ConfigMap> = Api::namespaced(operator.clone(), "kube-system");
    let pods: Api<Pod> = Api::namespaced(operator, "kube-system");
    let coredns = maps.get("coredns").await.expect("reading is allowed");
    let replaced = maps.replace("coredns", &dry(), &coredns).await;
    assert_refused(replaced, "touch only what a BenchmarkRun owns");
    let uid = "6f0c0e6e-0000-4000-8000-000000000001";
    let aws_auth = map(json!({ "metadata": {
        "name": "aws-auth", "labels": { labels::RUN_UID: uid },
        "ownerReferences": [{
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun", "name": "made-up", "uid": uid,
        }],
    }}));
    assert_refused(maps.create(&dry(), &aws_auth).await, "kube-");
    let listed = pods.list_metadata(&ListParams::default()).await;
    let victim = listed.expect("pods").items.remove(0).name_any();
    let deleted = pods.delete(&victim, &dry_deletion()).await;
    assert_refused(deleted.map(drop), "touch only what a BenchmarkRun owns");
}

#[tokio::test]
async fn the_cold_start_token_is_good_only_where_an_administrator_says() {
    let cold = client_as(&account("wasmbench-cold-start")).await;
    let uid = "6f0c0e6e-0000-4000-8000-000000000001";
    let pod: Pod = serde_json::from_value(json!({
        "metadata": {
            "name": "cold", "labels": { labels::RUN_UID: uid, labels::COMPONENT: labels::COMPONENT_COLD_SUBJECT },
        },
        "spec": { "containers": [{ "name": "a", "image": "b" }] },
    }))
    .expect("a pod");
    for namespace in ["kube-system", &operator_namespace()] {
        let pods: Api<Pod> = Api::namespaced(cold.clone(), namespace);
        assert_refused(pods.create(&dry(), &pod).await, "cannot create resource");
        let listed = pods.list(&ListParams::default()).await;
        assert_refused(listed, "cannot list resource");
    }
}

#[tokio::test]
async fn cold_starts_are_skipped_in_a_namespace_that_is_not_listed() {
    with_namespace("unlisted", |client, namespace| async move {
        let bindings: Api<RoleBinding> = Api::namespaced(client.clone(), &namespace);
        bindings
            .delete("wasmbench-cold-start", &DeleteParams::default())
            .await
            .expect("not listed");
        let spec = TINY.replace(
            "sweeps: {",
            "sweeps: {coldStart: {samples: 2, concurrency: [1]}, ",
        );
        runs::create(&client, &namespace, "eager", &spec).await;
        let run = runs::finished(&client, &namespace, "eager", 120).await;
        let outcomes = runs::outcomes(&runs::records(&client, &run).await);
        assert_eq!(outcomes.len(), 2, "{outcomes:?}");
        for (trial, outcome) in &outcomes {
            let expected = if trial.contains("cold") {
                "Skipped NotAllowed"
            } else {
                "Measured"
            };
            assert_eq!(outcome, expected, "{trial}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_tenant_can_neither_create_nor_change_objects_marked_as_a_runs() {
    with_namespace("forged", |client, namespace| async move {
        let mallory = tenant(&client, &namespace).await;
        runs::create(&mallory, &namespace, "real", TINY).await;
        let run = runs::get(&mallory, &namespace, "real").await;
        let uid = run.metadata.uid.clone().expect("a uid");
        let meta = |component: &str| {
            json!({
                "name": "forged",
                "labels": {
                    labels::RUN_UID: uid, labels::COMPONENT: component,
                    labels::VARIANT: "native", labels::WORKLOAD: "hello",
                },
                "annotations": {
                    labels::RECORD_SCHEMA: RECORD_SCHEMA, labels::RECORD_INDEX: "warm/b1 Measured\n",
                },
                "ownerReferences": [{
                    "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun", "name": "real", "uid": uid,
                }],
            })
        };
        let maps: Api<ConfigMap> = Api::namespaced(mallory.clone(), &namespace);
        let pods: Api<Pod> = Api::namespaced(mallory.clone(), &namespace);
        let text = "only wasmbench creates and changes";
        let records = map(json!({ "metadata": meta(labels::COMPONENT_RECORDS) }));
        assert_refused(maps.create(&PostParams::default(), &records).await, text);
        let decoy = serde_json::from_value(json!({
            "metadata": meta(labels::COMPONENT_SUBJECT),
            "spec": restricted(),
        }));
        let created = pods.create(&PostParams::default(), &decoy.expect("a pod")).await;
        assert_refused(created, text);
        // Nor by changing an existing object.
        let plain = map(json!({ "metadata": { "name": "plain" } }));
        maps.create(&PostParams::default(), &plain).await.expect("their own");
        let label = Patch::Merge(json!({ "metadata": { "labels": { labels::RUN_UID: uid } } }));
        let labelled = maps.patch("plain", &PatchParams::default(), &label).await;
        assert_refused(labelled, text);
        held_subject(&pods, &uid, text).await;
        let run = runs::finished(&client, &namespace, "real", 120).await;
        runs::assert_measured(&runs::records(&client, &run).await, 1);
    })
    .await;
}

/// A schedule whose next time is months away.
fn yearly() -> BenchmarkSchedule {
    let run: serde_json::Value = serde_yaml::from_str(TINY).expect("YAML");
    let spec = json!({ "schedule": "0 0 1 1 *", "template": { "spec": run } });
    BenchmarkSchedule::new("x", serde_json::from_value(spec).expect("a schedule"))
}

#[tokio::test]
async fn a_tenant_can_neither_create_nor_change_the_history_of_a_schedule() {
    with_namespace("history", |client, namespace| async move {
        let mallory = tenant(&client, &namespace).await;
        let schedules: Api<BenchmarkSchedule> = Api::namespaced(mallory.clone(), &namespace);
        let created = schedules.create(&PostParams::default(), &yearly()).await;
        let schedule = created.expect("their own");
        let maps: Api<ConfigMap> = Api::namespaced(mallory.clone(), &namespace);
        let text = "only wasmbench creates and changes";
        let history = config_map::history(&schedule, HISTORY_KEY, vec![]);
        let name = history.name_any();
        let (mut unowned, mut unlabelled) = (history.clone(), history.clone());
        unowned.metadata.owner_references = None;
        unlabelled.metadata.labels = None;
        for forged in [&history, &unowned, &unlabelled] {
            assert_refused(maps.create(&PostParams::default(), forged).await, text);
        }
        // Nor does a map of their own become one.
        let plain = map(json!({ "metadata": { "name": &name } }));
        maps.create(&PostParams::default(), &plain)
            .await
            .expect("their own");
        let owners =
            json!({ "metadata": { "ownerReferences": history.metadata.owner_references } });
        let patch = async |change: serde_json::Value| {
            maps.patch(&name, &PatchParams::default(), &Patch::Merge(change))
                .await
        };
        assert_refused(patch(owners).await, text);
        maps.delete(&name, &DeleteParams::default())
            .await
            .expect("their own");
        // Nor is one of the operator's changed, or taken over.
        let operator = client_as(&account("wasmbench")).await;
        let theirs: Api<ConfigMap> = Api::namespaced(operator, &namespace);
        theirs
            .create(&PostParams::default(), &history)
            .await
            .expect("the operator's own");
        for change in [
            json!({ "data": { "more": "" } }),
            json!({ "metadata": { "ownerReferences": null } }),
            json!({ "metadata": { "labels": null, "ownerReferences": null } }),
        ] {
            assert_refused(patch(change).await, text);
        }
        // To begin anew, they may remove it.
        maps.delete(&name, &DeleteParams::default())
            .await
            .expect("allowed");
    })
    .await;
}

/// Asserts that nobody can put a finalizer on a subject, which would hold the node.
async fn held_subject(pods: &Api<Pod>, uid: &str, text: &str) {
    let subjects = component_selector(uid, labels::COMPONENT_SUBJECT);
    let params = ListParams::default().labels(&subjects);
    let subject = eventually(PATIENCE, "there is a subject", || async {
        pods.list_metadata(&params).await.ok()?.items.pop()
    })
    .await;
    let held = Patch::Merge(json!({ "metadata": { "finalizers": ["mallory.example/stay"] } }));
    match pods
        .patch(&subject.name_any(), &PatchParams::default(), &held)
        .await
    {
        // The subject was deleted with its trial.
        Err(kube::Error::Api(status)) if status.is_not_found() => {}
        answer => assert_refused(answer, text),
    }
}

#[tokio::test]
async fn a_run_whose_report_cannot_be_written_releases_its_node() {
    with_namespace("evil", |client, namespace| async move {
        with_own_node(&client, async |node| {
            foreign_report(&client, &namespace, &node).await;
        })
        .await;
    })
    .await;
}

async fn foreign_report(client: &Client, namespace: &str, node: &str) {
    let mallory = tenant(client, namespace).await;
    let maps: Api<ConfigMap> = Api::namespaced(mallory.clone(), namespace);
    let foreign = map(json!({ "metadata": { "name": "evil-report" } }));
    maps.create(&PostParams::default(), &foreign)
        .await
        .expect("their own");
    let spec = TINY.to_owned() + &placement(node);
    runs::create(&mallory, namespace, "evil", &spec).await;
    runs::recorded(client, namespace, "evil", 1).await;
    runs::create(client, namespace, "good", &spec).await;
    runs::finished(client, namespace, "good", 120).await;
    let evil = runs::get(client, namespace, "evil").await;
    let finished = runs::condition(&evil, conditions::FINISHED);
    assert!(
        finished.is_none_or(|c| c.status != "True"),
        "it has no report yet"
    );
    eventually(PATIENCE, "it reports why", || async {
        let evil = runs::get(client, namespace, "evil").await;
        let stalled = runs::condition(&evil, conditions::STALLED)?;
        stalled.message.contains("evil-report").then_some(())
    })
    .await;
    let leases: Api<Lease> = Api::namespaced(client.clone(), &operator_namespace());
    let held = leases.list(&ListParams::default()).await.expect("leases");
    let uid = evil.metadata.uid.as_deref();
    let holds = |lease: &Lease| holder(lease) == uid;
    assert!(!held.items.iter().any(holds), "it holds a node");
}

#[tokio::test]
async fn a_run_of_weeks_is_refused_with_its_time() {
    with_namespace("weeks", |client, namespace| async move {
        let mallory = tenant(&client, &namespace).await;
        let spec = TINY.replace("blocks: 1", "blocks: 50").replace(
            "warmLatency: {requests: 50}",
            "throughput: {connections: [1, 2, 4, 8, 16, 32], durationSeconds: 600, warmupSeconds: 120}",
        );
        runs::create(&mallory, &namespace, "endless", &spec).await;
        let run = runs::finished(&client, &namespace, "endless", 60).await;
        let refused = runs::condition(&run, conditions::SUCCEEDED).expect("a condition");
        assert!(refused.message.contains("2 d") && refused.message.contains("24 h"), "{}", refused.message);
    })
    .await;
}

#[tokio::test]
async fn a_quota_of_one_pod_is_waited_for_and_nothing_is_skipped() {
    with_namespace("tight", |client, namespace| async move {
        let quota = serde_json::from_value(json!({
            "metadata": { "name": "one" }, "spec": { "hard": { "pods": "1" } },
        }));
        let quotas: Api<ResourceQuota> = Api::namespaced(client.clone(), &namespace);
        quotas
            .create(&PostParams::default(), &quota.expect("a quota"))
            .await
            .expect("a quota");
        runs::create(&client, &namespace, "patient", TINY).await;
        let run: BenchmarkRun = runs::finished(&client, &namespace, "patient", 120).await;
        // The scout's pod had to go before this one came.
        runs::assert_measured(&runs::records(&client, &run).await, 1);
    })
    .await;
}
