//! What a cold-start probe may do with its token, its pods and containerd's socket.

use serde_json::json;
use wasmbench_model::wire::request::MeterLevel;

use super::support::{ways_out, with};
use crate::support::chart::NAMESPACE;
use crate::support::policy::{COLD_START, Policy};
use crate::support::runs;

#[test]
fn pods_that_a_cold_start_creates_are_admitted_and_stay_restricted() {
    let (pods, cold) = (Policy::named("pods", &[]), Policy::named("owned", &[]));
    for pod in runs::cold_subjects() {
        for policy in [&pods, &cold] {
            let refused = policy.refusals_of(COLD_START, &pod, "team-a");
            assert_eq!(refused, Vec::<String>::new(), "{pod:#}");
        }
    }
    let pod = runs::cold_subjects().remove(0);
    let token = json!([{ "name": "a", "hostPath": { "path": "/proc" } }]);
    let mut cases = ways_out();
    cases.push(("/volumes", token, "mount nothing"));
    for (pointer, value, word) in cases {
        let pod = with(&pod, &format!("/spec{pointer}"), value);
        let refused = pods.refusals_of(COLD_START, &pod, "team-a");
        assert!(
            refused.iter().any(|m| m.contains(word)),
            "{pointer}: {refused:#?}"
        );
    }
}

#[test]
fn a_cold_start_creates_and_deletes_its_own_cold_subjects_only() {
    let policy = Policy::named("owned", &[]);
    let mine = runs::cold_subjects().remove(0);
    assert_eq!(
        policy.deletion_refused(COLD_START, &mine),
        Vec::<String>::new()
    );
    let labels = "/metadata/labels";
    let others = [
        with(&mine, labels, json!({})),
        with(
            &mine,
            &format!("{labels}/app.kubernetes.io~1component"),
            json!("subject"),
        ),
        with(&mine, "/metadata/ownerReferences", json!([])),
        with(
            &mine,
            "/metadata/ownerReferences",
            json!([{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "6f0c0e6e-0000-4000-8000-000000000001",
            }]),
        ),
        json!({ "metadata": { "name": "web" }, "spec": { "containers": [] } }),
    ];
    let none = Vec::<String>::new();
    for pod in others {
        assert_ne!(policy.deletion_refused(COLD_START, &pod), none, "{pod:#}");
        let created = policy.refusals_of(COLD_START, &pod, "team-a");
        assert_ne!(created, none, "{pod:#}");
    }
}

#[test]
fn the_token_of_cold_starts_is_for_their_probes_only() {
    let policy = Policy::named("probes", &[]);
    let job = runs::cold_job();
    assert_eq!(policy.refusals(&job, NAMESPACE), Vec::<String>::new());
    let spec = |path: &str| format!("/spec/template/spec{path}");
    let load = runs::jobs(MeterLevel::Cgroup).remove(0);
    let account = json!("wasmbench-cold-start");
    let load = with(&load, &spec("/serviceAccountName"), account);
    let load = with(&load, &spec("/automountServiceAccountToken"), json!(true));
    let proc = json!([{ "name": "proc", "hostPath": { "path": "/proc" } }]);
    let refused = [
        load,
        with(&job, &spec("/serviceAccountName"), json!("wasmbench")),
        with(&job, &spec("/volumes"), proc),
    ];
    for job in refused {
        let refused = policy.refusals(&job, NAMESPACE);
        assert!(
            refused.iter().any(|m| m.contains("no token")),
            "{refused:#?}"
        );
    }
}

#[test]
fn containerds_socket_is_for_cold_start_probes_at_level_node_only() {
    let node = Policy::named("probes", &["--set", "meter.level=node"]);
    let cgroup = Policy::named("probes", &[]);
    let job = runs::cold_job_at_level_node();
    assert_eq!(node.refusals(&job, NAMESPACE), Vec::<String>::new());
    assert_eq!(
        node.refusals(&runs::cold_job(), NAMESPACE),
        Vec::<String>::new()
    );
    let density = runs::density_job(MeterLevel::Cgroup);
    assert_eq!(node.refusals(&density, NAMESPACE), Vec::<String>::new());
    assert!(!cgroup.refusals(&job, NAMESPACE).is_empty());
    let other = Policy::named(
        "probes",
        &[
            "--set",
            "meter.level=node,meter.containerdSocket=/run/k3s/containerd/containerd.sock",
        ],
    );
    assert!(!other.refusals(&job, NAMESPACE).is_empty());
    let spec = |path: &str| format!("/spec/template/spec{path}");
    let socket = job["spec"]["template"]["spec"]["volumes"].clone();
    let mut writable = job["spec"]["template"]["spec"]["containers"][0]["volumeMounts"].clone();
    writable[0]["readOnly"] = json!(false);
    let root = json!([{ "name": "root", "hostPath": { "path": "/" } }]);
    let proc = json!([{ "name": "proc", "hostPath": { "path": "/proc" } }]);
    let refused = [
        with(&density, &spec("/volumes"), socket),
        with(&job, &spec("/volumes"), root),
        with(&job, &spec("/volumes"), proc),
        with(&job, &spec("/containers/0/volumeMounts"), writable),
    ];
    for job in refused {
        assert!(!node.refusals(&job, NAMESPACE).is_empty(), "{job:#}");
    }
}
