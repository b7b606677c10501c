//! How many pods the operator and its probes may have an object make, and who may let them.

use serde_json::{Value, json};

use crate::support::chart::{of_kind, render};
use crate::support::policy::{COLD_START, OPERATOR, Policy};

/// One namespace in which objects may be scaled, to at most ten replicas.
const ALLOWED: [&str; 2] = [
    "--set",
    "scale.namespaces={team-a},limits.densityInstances=10",
];

fn scale(replicas: Option<u32>) -> Value {
    let spec = replicas.map_or_else(|| json!({}), |replicas| json!({ "replicas": replicas }));
    json!({ "kind": "Scale", "metadata": { "name": "shop", "namespace": "team-a" }, "spec": spec })
}

#[test]
fn nothing_large_is_scaled_and_nothing_to_a_large_number() {
    let policy = Policy::named("scale", &ALLOWED).on("deployments");
    for (from, to, is_allowed) in [
        (None, Some(1), true),
        (Some(1), Some(10), true),
        (Some(10), None, true),
        (Some(1), Some(11), false),
        // What a run has scaled up goes down again, also if the administrator has lowered the limit since.
        (Some(11), Some(0), true),
        (Some(100), Some(0), true),
        // A service of more pods than any run has is not stopped.
        (Some(101), None, false),
        (Some(101), Some(0), false),
    ] {
        for who in [OPERATOR, COLD_START] {
            let refused = policy.update_refused(who, &scale(from), &scale(to), "team-a");
            assert_eq!(
                refused.is_empty(),
                is_allowed,
                "{from:?} to {to:?}: {refused:?}"
            );
        }
    }
}

#[test]
fn the_policy_is_about_the_scales_of_the_kinds_that_the_chart_lists() {
    let policy = Policy::named("scale", &ALLOWED);
    let rules = policy.spec["matchConstraints"]["resourceRules"].clone();
    let rules = rules.as_array().unwrap().iter();
    let resources: Vec<String> = rules
        .map(|rule| format!("{} {}", rule["apiGroups"][0], rule["resources"][0]))
        .collect();
    assert_eq!(resources.len(), 4, "{resources:?}");
    assert!(resources.contains(&r#""apps" "deployments/scale""#.to_owned()));
    let none = render(&[]);
    let policies = of_kind(&none, "ValidatingAdmissionPolicy");
    let mut names = policies.iter().map(|one| one["metadata"]["name"].as_str());
    assert!(names.all(|name| name != Some("wasmbench-scale")));
}

/// The rules about scales of a policy.
fn rules(policy: &Policy) -> Vec<String> {
    let all = policy.spec["validations"].as_array().unwrap().iter();
    let expressions = all.map(|rule| rule["expression"].as_str().unwrap().to_owned());
    expressions
        .filter(|text| text.contains("v.scale"))
        .collect()
}

/// An authorizer maps no kind to a resource, and an expression may ask it twice only.
#[test]
fn whoever_starts_a_run_must_be_allowed_to_patch_the_scale_of_each_kind_that_it_names() {
    for (name, spec) in [
        ("requester", "object.spec"),
        ("schedules", "object.spec.template.spec"),
    ] {
        let rules = rules(&Policy::named(name, &ALLOWED));
        assert_eq!(rules.len(), 5, "{name}: the list, and each kind");
        let wanted = format!(
            "!has({spec}.variants) || !{spec}.variants.exists(v, has(v.scale) && v.scale.resource == 'deployments' && \
             v.scale.group == 'apps') || authorizer.group('apps').resource('deployments').subresource('scale')\
             .namespace(request.namespace).check('patch').allowed()"
        );
        assert_eq!(rules[1], wanted, "{name}");
        for rule in &rules {
            assert!(rule.matches("authorizer").count() <= 2, "{rule}");
        }
    }
}

#[test]
fn a_run_scales_only_listed_kinds_in_listed_namespaces() {
    let run = |resource: &str, group: &str| {
        let own = json!({ "name": "shop", "scale": { "group": group, "resource": resource } });
        json!({ "spec": { "variants": [own] } })
    };
    let refused = |arguments: &[&str], namespace: &str, run: &Value| {
        let policy = Policy::named("requester", arguments).with_rules(|rule| {
            rule["message"]
                .as_str()
                .unwrap()
                .starts_with("runs scale only")
        });
        !policy.refusals_of("alice", run, namespace).is_empty()
    };
    let deployment = run("deployments", "apps");
    assert!(!refused(&ALLOWED, "team-a", &deployment));
    assert!(refused(&ALLOWED, "team-b", &deployment));
    assert!(refused(&ALLOWED, "team-a", &run("daemonsets", "apps")));
    assert!(refused(&[], "team-a", &deployment));
    let own = json!({ "spec": { "variants": [{ "name": "a", "container": {} }] } });
    assert!(!refused(&[], "team-a", &own));
}
