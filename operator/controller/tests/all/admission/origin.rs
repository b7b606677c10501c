//! Nobody else may create or change objects that claim to belong to a run or a schedule.

use kube_cel::VapEvaluator;
use serde_json::{Value, json};

use super::support::{history, with};
use crate::support::chart::NAMESPACE;
use crate::support::policy::{COLD_START, OPERATOR, Policy, by};
use crate::support::runs;

const TENANT: &str = "alice";
const REPLICA_SETS: &str = "system:serviceaccount:kube-system:replicaset-controller";
const GARBAGE: &str = "system:serviceaccount:kube-system:generic-garbage-collector";

fn looks_at(username: &str, object: &Value) -> bool {
    let evaluator = VapEvaluator::builder()
        .object(object.clone())
        .old_object(Value::Null)
        .request(by(username, "team-a"))
        .build();
    Policy::named("origin", &[]).matches(&evaluator)
}

#[test]
fn a_pod_with_a_runs_label_or_owner_is_refused_to_tenants() {
    let policy = Policy::named("origin", &[]);
    let mine = runs::pods().remove(0);
    let unlabelled = with(&mine, "/metadata/labels", json!({}));
    let unowned = with(&mine, "/metadata/ownerReferences", json!([]));
    let mut unowned_pod = unowned.clone();
    unowned_pod["metadata"]["ownerReferences"] = json!([]);
    for pod in [&mine, &unlabelled, &unowned_pod] {
        let refused = policy.refusals_of(TENANT, pod, "team-a");
        assert!(refused[0].contains("only wasmbench creates"), "{pod:#}");
    }
}

#[test]
fn a_tenant_can_neither_remove_nor_add_the_label() {
    let policy = Policy::named("origin", &[]);
    let mine = runs::pods().remove(0);
    let plain = json!({ "metadata": { "name": "web" }, "spec": {} });
    for (old, new) in [(&mine, &plain), (&plain, &mine), (&mine, &mine)] {
        let refused = policy.update_refused(TENANT, old, new, "team-a");
        assert_eq!(refused.len(), 1, "{new:#}");
    }
}

/// The history with nothing but its owner, and with nothing but its label, of what marks its owner.
fn claims(history: &Value) -> [Value; 3] {
    let unlabelled = with(history, "/metadata/labels", json!({}));
    let mut unowned = history.clone();
    unowned["metadata"]["ownerReferences"] = json!([]);
    [history.clone(), unlabelled, unowned]
}

#[test]
fn a_history_with_a_schedules_label_or_owner_is_refused_to_tenants() {
    let policy = Policy::named("origin", &[]).on("configmaps");
    for forged in claims(&history()) {
        let refused = policy.refusals_of(TENANT, &forged, "team-a");
        assert!(refused[0].contains("only wasmbench creates"), "{forged:#}");
    }
}

#[test]
fn a_tenant_can_neither_take_over_a_history_nor_turn_a_map_into_one() {
    let policy = Policy::named("origin", &[]).on("configmaps");
    let plain = json!({ "metadata": { "name": "nightly-history" } });
    for mine in claims(&history()) {
        for (old, new) in [(&mine, &plain), (&plain, &mine), (&mine, &mine)] {
            let refused = policy.update_refused(TENANT, old, new, "team-a");
            assert_eq!(refused.len(), 1, "{old:#} {new:#}");
        }
    }
}

#[test]
fn owners_of_the_same_kind_in_another_group_are_ignored() {
    for kind in ["BenchmarkRun", "BenchmarkSchedule"] {
        let owner =
            json!([{ "apiVersion": "example.com/v1", "kind": kind, "name": "a", "uid": "1" }]);
        let map = json!({ "metadata": { "name": "web", "ownerReferences": owner } });
        assert!(!looks_at(TENANT, &map), "{kind}");
    }
}

const NETWORKS: &str = "system:serviceaccount:openshift-multus:multus";

#[test]
fn a_listed_account_may_annotate_a_runs_pods_and_nothing_else() {
    let mine = runs::pods().remove(0);
    let annotated = with(
        &mine,
        "/metadata/annotations/example.com~1network",
        json!("up"),
    );
    let listed = [
        "--set",
        &format!("admissionPolicies.mayChangePods={{{NETWORKS}}}"),
    ];
    let policy = Policy::named("origin", &listed);
    let none = Vec::<String>::new();
    let changed = |policy: &Policy, who| policy.update_refused(who, &mine, &annotated, "team-a");
    assert_eq!(changed(&policy, NETWORKS), none);
    assert_eq!(changed(&policy, TENANT).len(), 1);
    assert_eq!(changed(&Policy::named("origin", &[]), NETWORKS).len(), 1);
    // Annotations and no more: it neither makes pods nor touches records.
    assert_eq!(policy.refusals_of(NETWORKS, &mine, "team-a").len(), 1);
    let maps = policy.on("configmaps");
    let history = history();
    let touched = maps.update_refused(NETWORKS, &history, &history, "team-a");
    assert_eq!(touched.len(), 1);
    let unlabelled = with(&mine, "/metadata/labels", json!({}));
    let stripped = policy.update_refused(NETWORKS, &mine, &unlabelled, "team-a");
    assert_eq!(stripped.len(), 1);
}

#[test]
fn objects_that_belong_to_no_run_are_ignored() {
    let plain = json!({ "metadata": { "name": "web", "labels": { "app": "web" } }, "spec": {} });
    assert!(!looks_at(TENANT, &plain));
    let mine = runs::pods().remove(0);
    assert!(looks_at(TENANT, &mine));
    for ours in [OPERATOR, COLD_START] {
        assert!(!looks_at(ours, &mine));
    }
}

#[test]
fn a_tenants_deployment_gets_no_pods_with_a_runs_label() {
    let policy = Policy::named("origin", &[]);
    let mine = runs::pods().remove(0);
    let refused = policy.refusals_of(REPLICA_SETS, &mine, "team-a");
    assert_eq!(refused.len(), 1, "{refused:#?}");
    let none = Vec::<String>::new();
    assert_eq!(policy.update_refused(GARBAGE, &mine, &mine, "team-a"), none);
    let jobs = "system:serviceaccount:kube-system:job-controller";
    assert_eq!(policy.refusals_of(jobs, &mine, NAMESPACE), none);
}
