//! Nobody else may create objects that claim to belong to a run.

use kube_cel::VapEvaluator;
use serde_json::{Value, json};

use super::support::with;
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
fn a_tenant_neither_takes_the_label_off_nor_puts_it_on() {
    let policy = Policy::named("origin", &[]);
    let mine = runs::pods().remove(0);
    let plain = json!({ "metadata": { "name": "web" }, "spec": {} });
    for (old, new) in [(&mine, &plain), (&plain, &mine), (&mine, &mine)] {
        let refused = policy.update_refused(TENANT, old, new, "team-a");
        assert_eq!(refused.len(), 1, "{new:#}");
    }
}

#[test]
fn what_is_no_runs_is_none_of_its_business() {
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
