//! Who may launch a probe, and who may install a second operator.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use kube_cel::VapEvaluator;
use serde_json::{Value, json};
use wasmbench_core::build::leader;
use wasmbench_core::epoch::Epoch;
use wasmbench_model::wire::request::MeterLevel;

use crate::support::chart::{NAMESPACE, of_kind, render};
use crate::support::policy::{Policy, by};
use crate::support::runs;

/// The Lease after operators in these pods have taken it one after the other.
fn lease(pods: &[&str]) -> Lease {
    let counts = Duration::from_secs(20);
    let take = |lease: Option<Lease>, pod: &&str| {
        let now = Timestamp::UNIX_EPOCH;
        Some(leader::taken(lease, NAMESPACE, pod, counts, now))
    };
    pods.iter().fold(None, take).unwrap()
}

/// A probe as the operator launches it that holds this Lease.
fn launched_under(lease: &Lease) -> Value {
    let job = runs::jobs(MeterLevel::Cgroup).remove(0);
    let job: Job = serde_json::from_value(job).unwrap();
    let epoch = Epoch::from_lease(lease).unwrap();
    serde_json::to_value(epoch.launch(job)).unwrap()
}

#[test]
fn the_api_server_compares_a_probe_with_the_lease_that_the_operator_takes() {
    let policy = Policy::named("leader", &[]);
    let kind = json!({ "apiVersion": "coordination.k8s.io/v1", "kind": "Lease" });
    assert_eq!(policy.spec["paramKind"], kind);
    let reference = json!({
        "name": leader::NAME, "namespace": NAMESPACE, "parameterNotFoundAction": "Deny",
    });
    assert_eq!(policy.binding["paramRef"], reference);
}

#[test]
fn an_installation_whose_operator_has_never_led_refuses_nothing_to_another_one() {
    for name in ["origin", "installation"] {
        let policy = Policy::named(name, &[]);
        let kind = json!({ "apiVersion": "coordination.k8s.io/v1", "kind": "Lease" });
        assert_eq!(policy.spec["paramKind"], kind, "{name}");
        let reference = json!({
            "name": leader::NAME, "namespace": NAMESPACE, "parameterNotFoundAction": "Allow",
        });
        assert_eq!(policy.binding["paramRef"], reference, "{name}");
    }
}

#[test]
fn a_probe_of_an_operator_that_was_replaced_is_refused() {
    let (first, second) = (lease(&["a"]), lease(&["a", "b"]));
    let of = |lease: &Lease| {
        let params = serde_json::to_value(lease).unwrap();
        Policy::named("leader", &[]).with_params(params).on("jobs")
    };
    let none = Vec::<String>::new();
    let refused = |policy: &Policy, job: &Value| policy.refusals(job, NAMESPACE);
    assert_eq!(refused(&of(&first), &launched_under(&first)), none);
    assert_eq!(refused(&of(&second), &launched_under(&second)), none);
    // The API server may not have seen the second one take over.
    assert_eq!(refused(&of(&first), &launched_under(&second)), none);
    let without_epoch = runs::jobs(MeterLevel::Cgroup).remove(0);
    for job in [launched_under(&first), without_epoch] {
        let messages = refused(&of(&second), &job);
        assert!(messages[0].contains("has taken over"), "{messages:#?}");
    }
}

#[test]
fn a_second_installation_is_refused_wherever_it_is_and_whatever_it_is_called() {
    let policy = Policy::named("installation", &[]).on("deployments");
    let objects = render(&[]);
    let deployment = of_kind(&objects, "Deployment")[0].clone();
    let none = Vec::<String>::new();
    assert_eq!(policy.refusals_of("admin", &deployment, NAMESPACE), none);
    let mut other = deployment.clone();
    other["metadata"]["labels"]["app.kubernetes.io/instance"] = json!("other");
    for (object, namespace) in [(&deployment, "team-a"), (&other, NAMESPACE)] {
        let refused = policy.refusals_of("admin", object, namespace);
        assert!(
            refused[0].contains(&format!("namespace {NAMESPACE}")),
            "{refused:#?}"
        );
    }
    let nginx = json!({ "metadata": { "labels": { "app.kubernetes.io/component": "operator" } } });
    let evaluator = VapEvaluator::builder()
        .object(nginx)
        .request(by("admin", "team-a"))
        .build();
    assert!(!policy.matches(&evaluator), "an operator of others");
}
