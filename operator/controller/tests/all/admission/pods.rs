//! Pods under test and echo servers.

use serde_json::{Value, json};
use wasmbench_api::run::PROBE_USER;

use super::support::{ways_out, with};
use crate::support::chart::NAMESPACE;
use crate::support::policy::{COLD_START, Policy};
use crate::support::runs;

#[test]
fn pods_that_the_operator_creates_are_admitted() {
    let policy = Policy::named("pods", &[]);
    for pod in runs::pods() {
        assert_eq!(
            policy.refusals(&pod, "team-a"),
            Vec::<String>::new(),
            "{pod:#}"
        );
    }
}

#[test]
fn a_pod_that_asks_for_more_is_refused() {
    let policy = Policy::named("pods", &[]);
    let pod = runs::pods().remove(0);
    let host_path = json!([{ "name": "a", "hostPath": { "path": "/proc" } }]);
    let secret = json!([{ "name": "a", "secret": { "secretName": "b" } }]);
    let mut cases = ways_out();
    cases.push(("/volumes", host_path, "mount nothing"));
    cases.push(("/volumes", secret, "mount nothing"));
    for (pointer, value, word) in cases {
        let refused = policy.refusals(&with(&pod, &format!("/spec{pointer}"), value), "team-a");
        assert!(
            refused.iter().any(|m| m.contains(word)),
            "{pointer}: {refused:#?}"
        );
    }
}

#[test]
fn a_subject_runs_as_any_user_but_root_and_the_probes() {
    let policy = Policy::named("pods", &[]);
    let pod = runs::pods().remove(0);
    for context in [
        "/spec/securityContext",
        "/spec/containers/0/securityContext",
    ] {
        let refusals = |field: &str, number: i64| {
            let pod = with(&pod, &format!("{context}/{field}"), json!(number));
            policy.refusals(&pod, "team-a")
        };
        for field in ["runAsUser", "runAsGroup"] {
            assert_eq!(
                refusals(field, 1000),
                Vec::<String>::new(),
                "{context}/{field}"
            );
            for number in [0, PROBE_USER] {
                assert!(
                    !refusals(field, number).is_empty(),
                    "{context}/{field}: {number}"
                );
            }
        }
    }
}

#[test]
fn subjects_share_the_nodes_network_only_where_the_chart_allows_it() {
    let ports = json!([{ "containerPort": 8080, "hostPort": 8080 }]);
    let on_host = |pod: &Value| {
        let pod = with(pod, "/spec/hostNetwork", json!(true));
        with(&pod, "/spec/containers/0/ports", ports.clone())
    };
    let pod = on_host(&runs::cold_subjects().remove(0));
    let off = Policy::named("pods", &[]).refusals_of(COLD_START, &pod, "team-a");
    assert!(
        off.iter()
            .any(|m| m.contains("hostNetwork.enabled is false")),
        "{off:#?}"
    );
    let set = ["--set", "hostNetwork.enabled=true"];
    let pods = Policy::named("pods", &set);
    assert_eq!(
        pods.refusals_of(COLD_START, &pod, "team-a"),
        Vec::<String>::new()
    );
    let other_port = json!([{ "containerPort": 8080, "hostPort": 22 }]);
    let component = "/metadata/labels/app.kubernetes.io~1component";
    let refused = [
        with(&pod, "/spec/containers/0/ports", other_port),
        with(&pod, component, json!("upstream")),
        with(
            &runs::cold_subjects().remove(0),
            "/spec/containers/0/ports",
            ports.clone(),
        ),
    ];
    for pod in refused {
        let refused = pods.refusals_of(COLD_START, &pod, "team-a");
        assert!(
            refused.iter().any(|m| m.contains("the node's network")),
            "{pod:#}: {refused:#?}"
        );
    }
    let job = with(
        &runs::cold_job(),
        "/spec/template/spec/hostNetwork",
        json!(true),
    );
    let refused = Policy::named("probes", &set).refusals(&job, NAMESPACE);
    assert!(refused.iter().any(|m| m.contains("the node's network")));
}
