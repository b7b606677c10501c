//! What the operator's token allows, should somebody get hold of it: only the objects of runs.

use serde_json::{Value, json};
use wasmbench_api::BenchmarkSchedule;
use wasmbench_core::build::config_map;
use wasmbench_core::schedule::run_of;

use super::support::with;
use crate::support::chart::{NAMESPACE, repository};
use crate::support::policy::{COLD_START, OPERATOR, Policy};
use crate::support::runs;

const REFUSED: &str = "touch only what a BenchmarkRun owns";

fn records() -> Value {
    let pod = runs::pods().remove(0);
    json!({ "metadata": pod["metadata"].clone(), "data": {} })
}

/// Objects that belong to no run, derived from one that does.
fn strangers(mine: &Value) -> Vec<Value> {
    let owner = |kind: &str, group: &str, uid: &str| json!([{ "apiVersion": format!("{group}/v1alpha1"), "kind": kind, "name": "a", "uid": uid }]);
    let uid = mine["metadata"]["labels"]["wasmbench.dev/run-uid"].clone();
    let uid = uid.as_str().unwrap();
    let owners = "/metadata/ownerReferences";
    vec![
        json!({ "metadata": { "name": "coredns" }, "data": {} }),
        with(mine, "/metadata/labels", json!({})),
        with(
            mine,
            "/metadata",
            json!({ "name": "coredns", "labels": { "wasmbench.dev/run-uid": uid } }),
        ),
        with(
            mine,
            "/metadata",
            json!({
                "name": "aws-auth", "labels": { "wasmbench.dev/run-uid": uid },
                owners.rsplit('/').next().unwrap(): owner("ReplicaSet", "wasmbench.dev", uid),
            }),
        ),
        with(
            mine,
            "/metadata",
            json!({
                "name": "aws-auth", "labels": { "wasmbench.dev/run-uid": uid },
                owners.rsplit('/').next().unwrap(): owner("BenchmarkRun", "example.com", uid),
            }),
        ),
        with(
            mine,
            "/metadata",
            json!({
                "name": "aws-auth", "labels": { "wasmbench.dev/run-uid": uid },
                owners.rsplit('/').next().unwrap(): owner("BenchmarkRun", "wasmbench.dev", "another"),
            }),
        ),
    ]
}

#[test]
fn the_operator_creates_changes_and_deletes_what_is_a_runs() {
    let policy = Policy::named("owned", &[]);
    let none = Vec::<String>::new();
    let mine = records();
    assert_eq!(policy.on("configmaps").refusals(&mine, "team-a"), none);
    assert_eq!(
        policy
            .on("configmaps")
            .update_refused(OPERATOR, &mine, &mine, "team-a"),
        none
    );
    for pod in runs::pods() {
        assert_eq!(policy.refusals(&pod, "team-a"), none);
        assert_eq!(policy.deletion_refused(OPERATOR, &pod), none);
    }
}

#[test]
fn what_is_no_runs_the_operator_neither_creates_nor_deletes() {
    let policy = Policy::named("owned", &[]);
    for stranger in strangers(&records()) {
        for resource in ["pods", "configmaps"] {
            let policy = policy.on(resource);
            let refused = policy.refusals(&stranger, "team-a");
            assert!(refused.iter().any(|m| m.contains(REFUSED)), "{stranger:#}");
            let refused = policy.deletion_refused(OPERATOR, &stranger);
            assert!(refused.iter().any(|m| m.contains(REFUSED)), "{stranger:#}");
        }
    }
}

#[test]
fn neither_side_of_a_change_may_be_no_runs() {
    let policy = Policy::named("owned", &[]).on("configmaps");
    let mine = records();
    for stranger in strangers(&mine) {
        for (old, new) in [(&stranger, &mine), (&mine, &stranger)] {
            let refused = policy.update_refused(OPERATOR, old, new, "team-a");
            assert!(refused.iter().any(|m| m.contains(REFUSED)), "{stranger:#}");
        }
    }
}

#[test]
fn namespaces_of_the_cluster_are_closed_even_to_objects_of_runs() {
    let policy = Policy::named("owned", &[]);
    let refused = policy.on("configmaps").refusals(&records(), "kube-system");
    assert!(refused[0].contains("kube-"), "{refused:#?}");
    let cold = runs::cold_subjects().remove(0);
    let refused = policy.refusals_of(COLD_START, &cold, "kube-system");
    assert!(refused[0].contains("kube-"), "{refused:#?}");
}

#[test]
fn a_probes_pod_is_removed_in_the_operators_namespace_and_nowhere_else() {
    let policy = Policy::named("owned", &[]);
    let labels = json!({
        "app.kubernetes.io/component": "probe", "wasmbench.dev/run-uid": "6f0c",
    });
    let pod = json!({ "metadata": {
        "name": "probe", "labels": labels,
        "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "a", "uid": "b" }],
    }});
    let refused = |namespace| policy.deletion_refused_in(OPERATOR, &pod, namespace);
    assert_eq!(refused(NAMESPACE), Vec::<String>::new());
    assert!(refused("team-a")[0].contains(REFUSED));
}

#[test]
fn the_operator_writes_the_history_of_a_schedule_and_no_other_config_map() {
    let policy = Policy::named("owned", &[]).on("configmaps");
    let path = repository().join("manifests/samples/nightly.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let mut nightly: BenchmarkSchedule = serde_yaml::from_str(&text).unwrap();
    nightly.metadata.uid = Some("6f0c0e6e-0000-4000-8000-000000000001".into());
    let history = config_map::history(&nightly, "history.json.gz", vec![]);
    let history = serde_json::to_value(history).unwrap();
    assert_eq!(policy.refusals(&history, "team-a"), Vec::<String>::new());
    let owner = "/metadata/ownerReferences/0";
    for (path, value) in [
        (format!("{owner}/uid"), json!("another")),
        (format!("{owner}/kind"), json!("CronJob")),
        ("/metadata/labels".to_owned(), json!({})),
    ] {
        let stranger = with(&history, &path, value);
        let refused = policy.refusals(&stranger, "team-a");
        assert!(refused.iter().any(|m| m.contains(REFUSED)), "{stranger:#}");
        let refused = policy.update_refused(OPERATOR, &stranger, &history, "team-a");
        assert!(refused.iter().any(|m| m.contains(REFUSED)), "{stranger:#}");
    }
    let pods = Policy::named("owned", &[])
        .on("pods")
        .refusals(&history, "team-a");
    assert!(pods.iter().any(|m| m.contains(REFUSED)), "{pods:#?}");
}

#[test]
fn the_operator_starts_the_runs_of_schedules_and_no_others() {
    let policy = Policy::named("owned", &[]).on("benchmarkruns");
    let path = repository().join("manifests/samples/nightly.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let mut nightly: BenchmarkSchedule = serde_yaml::from_str(&text).unwrap();
    nightly.metadata.uid = Some("6f0c0e6e-0000-4000-8000-000000000001".into());
    let run = run_of(&nightly, "2026-03-01T03:00:00Z".parse().unwrap());
    let run = serde_json::to_value(run).unwrap();
    assert_eq!(policy.refusals(&run, "team-a"), Vec::<String>::new());
    let strangers = [json!([]), run["metadata"]["ownerReferences"].clone()];
    for (owners, kind) in strangers.into_iter().zip(["", "CronJob"]) {
        let mut stranger = run.clone();
        stranger["metadata"]["ownerReferences"] = owners;
        if !kind.is_empty() {
            stranger["metadata"]["ownerReferences"][0]["kind"] = json!(kind);
        }
        let refused = policy.refusals(&stranger, "team-a");
        assert!(
            refused[0].contains("a BenchmarkSchedule owns"),
            "{refused:#?}"
        );
    }
    let refused = policy.refusals(&run, "kube-system");
    assert!(refused[0].contains("kube-"), "{refused:#?}");
    assert!(!policy.refusals_of(COLD_START, &run, "team-a").is_empty());
}

#[test]
fn of_leases_only_claims_on_nodes_that_nobody_holds_are_removed() {
    let policy = Policy::named("owned", &[]).on("leases");
    let claim = |component: &str, holder: Value| {
        json!({
            "metadata": {
                "name": "wasmbench-node-a", "labels": { "app.kubernetes.io/component": component },
            },
            "spec": { "holderIdentity": holder },
        })
    };
    let refused = |lease: &Value| policy.deletion_refused_in(OPERATOR, lease, NAMESPACE);
    let mut free = claim("node-lease", json!(""));
    assert_eq!(refused(&free), Vec::<String>::new());
    free["spec"] = json!({});
    assert_eq!(refused(&free), Vec::<String>::new());
    free["metadata"].as_object_mut().unwrap().remove("labels");
    for kept in [
        free,
        claim("node-lease", json!("6f0c")),
        claim("somebodys-leader", json!("")),
    ] {
        assert!(refused(&kept)[0].contains("of Leases"), "{kept:#}");
    }
}
