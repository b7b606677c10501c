//! What users other than the operator do, and when their rights are checked.

use kube_cel::{AdmissionRequest, VapEvaluator, VapExpression};
use serde_json::{Value, json};

use crate::support::chart::NAMESPACE;
use crate::support::policy::{Policy, by};

#[test]
fn pods_and_jobs_of_others_are_ignored() {
    for name in ["pods", "probes"] {
        let policy = Policy::named(name, &[]);
        for other in ["admin", "system:serviceaccount:wasmbench-system:default"] {
            let evaluator = VapEvaluator::builder()
                .object(json!({}))
                .request(by(other, NAMESPACE))
                .build();
            assert!(
                !policy.matches(&evaluator),
                "{name} looks at what {other} does"
            );
        }
    }
}

/// Whether the policy checks the rights of alice, who creates `new` or changes `old` to `new`.
fn checks_rights(policy: &Policy, operation: &str, old: Option<Value>, new: Value) -> bool {
    let request = AdmissionRequest {
        operation: operation.into(),
        ..by("alice", "team-a")
    };
    let mut evaluator = VapEvaluator::builder().object(new).request(request);
    if let Some(old) = old {
        evaluator = evaluator.old_object(old);
    }
    policy.matches(&evaluator.build())
}

/// Asserts that the policy checks for the right to create pods in the object's namespace and, if a
/// workload below `spec`, or a request of its mix, has a body from one, to read `ConfigMaps`.
fn asks_for_rights(policy: &Policy, spec: &str) {
    let check = policy.spec["validations"][1]["expression"]
        .as_str()
        .unwrap();
    let wanted = format!(
        "!has({spec}.workloads) || !{spec}.workloads.exists(w, has(w.bodyFrom) || \
         (has(w.requests) && w.requests.exists(r, has(r.bodyFrom)))) || \
         authorizer.group('').resource('configmaps').namespace(request.namespace).check('get').allowed()"
    );
    assert_eq!(check, wanted);
    let check = policy.spec["validations"][0]["expression"]
        .as_str()
        .unwrap();
    assert_eq!(
        check,
        "authorizer.group('').resource('pods').namespace(request.namespace).check('create').allowed()"
    );
}

#[test]
fn the_requesters_rights_are_checked_when_a_run_starts_and_only_then() {
    let policy = Policy::named("requester", &[]);
    let checks_rights = |operation: &str, old, new| checks_rights(&policy, operation, old, new);
    let running = json!({ "spec": {} });
    let suspended = json!({ "spec": { "suspend": true } });
    let resumed = json!({ "spec": { "suspend": false } });
    assert!(checks_rights("CREATE", None, running.clone()));
    assert!(checks_rights("CREATE", None, suspended.clone()));
    assert!(checks_rights("UPDATE", Some(suspended.clone()), resumed));
    assert!(checks_rights(
        "UPDATE",
        Some(suspended.clone()),
        running.clone()
    ));
    assert!(
        !checks_rights("UPDATE", Some(running.clone()), suspended),
        "stopping is free"
    );
    assert!(
        !checks_rights("UPDATE", Some(running.clone()), running),
        "so are labels and finalizers"
    );
    asks_for_rights(&policy, "object.spec");
}

#[test]
fn an_authors_rights_are_checked_when_they_decide_what_starts_or_when() {
    let policy = Policy::named("schedules", &[]);
    let checks_rights = |operation: &str, old, new| checks_rights(&policy, operation, old, new);
    let schedule = |at: &str, image: &str, suspend: bool| {
        let template = json!({ "spec": { "image": image } });
        let spec = json!({ "schedule": at, "template": template, "suspend": suspend });
        json!({ "metadata": { "name": "nightly" }, "spec": spec })
    };
    let nightly = schedule("0 3 * * *", "a", false);
    assert!(checks_rights("CREATE", None, nightly.clone()));
    for (change, new) in [
        ("another time", schedule("* * * * *", "a", false)),
        ("another image", schedule("0 3 * * *", "b", false)),
        (
            "another image, to be resumed by others",
            schedule("0 3 * * *", "b", true),
        ),
    ] {
        assert!(
            checks_rights("UPDATE", Some(nightly.clone()), new),
            "{change}"
        );
    }
    let suspended = schedule("0 3 * * *", "a", true);
    assert!(
        checks_rights("UPDATE", Some(suspended.clone()), nightly.clone()),
        "resuming"
    );
    assert!(
        !checks_rights("UPDATE", Some(nightly.clone()), suspended),
        "stopping is free"
    );
    let mut labelled = nightly.clone();
    labelled["metadata"]["labels"] = json!({ "team": "a" });
    assert!(
        !checks_rights("UPDATE", Some(nightly), labelled),
        "so are labels"
    );
    asks_for_rights(&policy, "object.spec.template.spec");
}

#[test]
fn a_body_from_a_config_map_asks_for_the_right_to_read_it_in_a_mix_too() {
    let policy = Policy::named("requester", &[]);
    let check = policy.spec["validations"][1]["expression"]
        .as_str()
        .unwrap();
    let (sends_none, _) = check.rsplit_once(" || authorizer").unwrap();
    let sends_none = |workload: Value| {
        let run = json!({ "spec": { "workloads": [workload] } });
        let evaluator = VapEvaluator::builder()
            .object(run)
            .request(by("alice", "team-a"))
            .build();
        let rule = VapExpression {
            expression: sends_none.to_owned(),
            message: None,
            message_expression: None,
        };
        evaluator.evaluate(&[rule])[0].passed
    };
    let from = json!({ "configMap": "orders", "key": "order.json" });
    let mix = |last: Value| json!({ "name": "shop", "requests": [{ "name": "home" }, last] });
    assert!(sends_none(json!({ "name": "order", "body": "{}" })));
    assert!(sends_none(mix(json!({ "name": "order", "body": "{}" }))));
    assert!(!sends_none(json!({ "name": "order", "bodyFrom": from })));
    assert!(!sends_none(mix(
        json!({ "name": "order", "bodyFrom": from })
    )));
}

#[test]
fn a_runs_metadata_is_bounded_so_that_the_operator_can_read_all_runs() {
    let policy = Policy::named("size", &[]);
    let refused = |metadata: Value| {
        let run = json!({ "metadata": metadata, "spec": {} });
        policy.refusals_of("alice", &run, "team-a").join("; ")
    };
    let labels = |count: usize| {
        let labels = (0..count).map(|number| (format!("l{number}"), json!("v")));
        json!({ "labels": Value::Object(labels.collect()) })
    };
    let annotation = |characters: usize| json!({ "annotations": { "a": "x".repeat(characters) } });
    for fits in [json!({}), labels(64), annotation(131_071)] {
        assert_eq!(refused(fits), "");
    }
    for (too_much, remedy) in [
        (labels(65), "metadata.labels"),
        (annotation(131_072), "metadata.annotations"),
        (
            json!({ "finalizers": vec!["a.b/c"; 17] }),
            "metadata.finalizers",
        ),
        (
            json!({ "ownerReferences": vec![json!({}); 17] }),
            "metadata.ownerReferences",
        ),
    ] {
        assert!(refused(too_much).contains(remedy), "{remedy}");
    }
}
