//! What the operator's token allows, should somebody get hold of it: only the objects of runs.

use serde_json::{Value, json};
use wasmbench_core::build::bodies::config_map;
use wasmbench_core::schedule::run_of;
use wasmbench_model::wire::request::MeterLevel;

use super::support::{history, nightly, with};
use crate::support::chart::NAMESPACE;
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
fn the_operator_creates_changes_and_deletes_objects_of_runs() {
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
fn the_operator_can_neither_create_nor_delete_foreign_objects() {
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
fn the_operator_can_change_no_foreign_object_and_make_none_foreign() {
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

/// As `kubectl delete benchmarkrun --cascade=orphan` leaves them.
fn orphaned(pod: &Value) -> Vec<Value> {
    let mut without = pod.clone();
    let meta = without["metadata"].as_object_mut().unwrap();
    meta.remove("ownerReferences");
    let mut empty = pod.clone();
    empty["metadata"]["ownerReferences"] = json!([]);
    vec![without, empty]
}

#[test]
fn a_pod_that_a_deleted_run_left_without_an_owner_is_removed() {
    let policy = Policy::named("owned", &[]);
    for pod in runs::pods().iter().chain(&runs::cold_subjects()) {
        for orphan in orphaned(pod) {
            let refused = policy.deletion_refused(OPERATOR, &orphan);
            assert_eq!(refused, Vec::<String>::new(), "{orphan:#}");
            assert!(!policy.deletion_refused(COLD_START, &orphan).is_empty());
            assert!(!policy.refusals(&orphan, "team-a").is_empty(), "created");
            let changed = policy.update_refused(OPERATOR, &orphan, &orphan, "team-a");
            assert!(!changed.is_empty(), "changed");
        }
    }
}

#[test]
fn a_foreign_pod_without_an_owner_is_not_removed() {
    let policy = Policy::named("owned", &[]);
    let orphan = orphaned(&runs::pods()[0]).remove(0);
    let uid = &orphan["metadata"]["labels"]["wasmbench.dev/run-uid"];
    let component = "app.kubernetes.io/component";
    for labels in [
        json!({}),
        json!({ "wasmbench.dev/run-uid": uid }),
        json!({ component: "subject" }),
        json!({ "wasmbench.dev/run-uid": uid, component: "controller" }),
    ] {
        let stranger = with(&orphan, "/metadata/labels", labels);
        let refused = policy.deletion_refused(OPERATOR, &stranger);
        assert!(refused.iter().any(|m| m.contains(REFUSED)), "{stranger:#}");
    }
    let of_others = with(
        &orphan,
        "/metadata/ownerReferences",
        json!([{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "a", "uid": "b" }]),
    );
    let refused = policy.deletion_refused(OPERATOR, &of_others);
    assert!(refused.iter().any(|m| m.contains(REFUSED)));
    let maps = Policy::named("owned", &[]).on("configmaps");
    assert!(!maps.deletion_refused(OPERATOR, &orphan).is_empty());
    let refused = policy.deletion_refused_in(OPERATOR, &orphan, "kube-system");
    assert!(refused[0].contains("kube-"), "{refused:#?}");
}

#[test]
fn the_operator_writes_the_history_of_a_schedule_and_no_other_config_map() {
    let policy = Policy::named("owned", &[]).on("configmaps");
    let history = history();
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
    let run = run_of(&nightly(), "2026-03-01T03:00:00Z".parse().unwrap());
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
fn only_claims_on_nodes_that_nobody_holds_may_be_removed() {
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

#[test]
fn bodies_that_a_probe_sends_are_owned_by_its_job_and_in_the_operators_namespace() {
    let policy = Policy::named("owned", &[]).on("configmaps");
    let mut job = runs::jobs_with_a_body(MeterLevel::None).remove(0);
    job.metadata.uid = Some("b0d1".into());
    let bodies = config_map(&job.metadata, [("index".to_owned(), vec![0, 255])].into());
    assert_eq!(bodies.metadata.namespace.as_deref(), Some(NAMESPACE));
    let bodies = serde_json::to_value(bodies).unwrap();
    assert_eq!(policy.refusals(&bodies, NAMESPACE), Vec::<String>::new());
    let elsewhere = policy.refusals(&bodies, "team-a");
    assert!(elsewhere[0].contains(REFUSED), "{elsewhere:#?}");
    for (pointer, value) in [
        ("/metadata/ownerReferences", json!([])),
        ("/metadata/ownerReferences/0/kind", json!("Deployment")),
        ("/metadata/name", json!("wasmbench-config")),
        ("/metadata/labels", json!({})),
    ] {
        let refused = policy.refusals(&with(&bodies, pointer, value), NAMESPACE);
        assert!(
            refused.iter().any(|m| m.contains(REFUSED)),
            "{pointer}: {refused:#?}"
        );
    }
}
