//! The chart's admission policies, evaluated without a cluster: what the operator really creates
//! passes, and everything more is refused. The one expression that asks the API server for the
//! requester's rights (`authorizer`) needs a cluster; here only the question when it is asked.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on panics"
)]

#[path = "support/chart.rs"]
mod chart;
#[path = "support/policy.rs"]
mod policy;
#[path = "support/runs.rs"]
mod runs;

use chart::NAMESPACE;
use kube_cel::{AdmissionRequest, VapEvaluator};
use policy::{COLD_START, Policy, by};
use serde_json::{Value, json};
use wasmbench_core::wire::request::MeterLevel;

/// `object` with `value` at a JSON pointer.
fn with(object: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = object.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/");
    let parent = changed
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("{pointer}"));
    match parent {
        Value::Array(items) => items.push(value),
        other => other[name] = value,
    }
    changed
}

/// Ways out of a pod, relative to its spec, each with a word of the refusal.
fn ways_out() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("/automountServiceAccountToken", json!(true), "no token"),
        ("/serviceAccountName", json!("wasmbench"), "no token"),
        ("/hostNetwork", json!(true), "the node's network"),
        ("/hostPID", json!(true), "the node's processes"),
        ("/hostIPC", json!(true), "the node's IPC"),
        (
            "/containers/0/ports",
            json!([{ "containerPort": 80, "hostPort": 80 }]),
            "network",
        ),
        ("/securityContext", json!({}), "run as non-root"),
        (
            "/securityContext/runAsNonRoot",
            json!(false),
            "run as non-root",
        ),
        ("/securityContext/runAsUser", json!(0), "run as non-root"),
        (
            "/securityContext/seccompProfile",
            json!({ "type": "Unconfined" }),
            "seccomp",
        ),
        (
            "/securityContext/sysctls",
            json!([{ "name": "a", "value": "b" }]),
            "sysctls",
        ),
        ("/containers/0/securityContext", json!({}), "not privileged"),
        (
            "/containers/0/securityContext/privileged",
            json!(true),
            "not privileged",
        ),
        (
            "/containers/0/securityContext/allowPrivilegeEscalation",
            json!(true),
            "not privileged",
        ),
        (
            "/containers/0/securityContext/capabilities",
            json!({ "drop": [] }),
            "drop ALL",
        ),
        (
            "/containers/0/securityContext/capabilities/add",
            json!(["NET_RAW"]),
            "drop ALL",
        ),
        (
            "/containers/0/securityContext/runAsUser",
            json!(0),
            "non-root",
        ),
        (
            "/containers/0/securityContext/procMount",
            json!("Unmasked"),
            "not privileged",
        ),
        (
            "/containers/0/env",
            json!([{ "name": "A", "valueFrom": { "secretKeyRef": { "name": "a", "key": "b" } } }]),
            "literal values only",
        ),
        (
            "/containers/0/envFrom",
            json!([{ "secretRef": { "name": "a" } }]),
            "literal values only",
        ),
        (
            "/initContainers",
            json!([{ "name": "a", "image": "b" }]),
            "not privileged",
        ),
    ]
}

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
fn probes_that_the_operator_creates_are_admitted() {
    let cgroup = Policy::named("probes", &[]);
    let none = Policy::named("probes", &["--set", "meter.level=none"]);
    for job in runs::jobs(wasmbench_core::wire::request::MeterLevel::Cgroup) {
        assert_eq!(
            cgroup.refusals(&job, NAMESPACE),
            Vec::<String>::new(),
            "{job:#}"
        );
        let refused = none.refusals(&job, NAMESPACE);
        assert!(
            refused.iter().any(|m| m.contains("meter.level is none")),
            "{refused:#?}"
        );
    }
    for job in runs::jobs(wasmbench_core::wire::request::MeterLevel::None) {
        assert_eq!(
            none.refusals(&job, NAMESPACE),
            Vec::<String>::new(),
            "{job:#}"
        );
        assert_eq!(
            cgroup.refusals(&job, NAMESPACE),
            Vec::<String>::new(),
            "{job:#}"
        );
    }
}

#[test]
fn a_job_that_is_more_than_a_probe_is_refused() {
    let policy = Policy::named("probes", &[]);
    let job = runs::jobs(wasmbench_core::wire::request::MeterLevel::Cgroup).remove(0);
    let root = json!([{ "name": "root", "hostPath": { "path": "/" } }]);
    let writable = json!([{ "name": "proc", "mountPath": "/host/proc" }]);
    let second = json!({ "name": "b", "image": "c" });
    let mut cases = ways_out();
    cases.push(("/volumes", root, "only to read"));
    cases.push(("/containers/0/volumeMounts", writable, "only to read"));
    cases.push((
        "/containers/0/image",
        json!("evil"),
        "probe image and nothing else",
    ));
    cases.push((
        "/containers/0/command",
        json!(["sh"]),
        "probe image and nothing else",
    ));
    cases.push(("/containers/1", second, "probe image and nothing else"));
    cases.push(("/restartPolicy", json!("OnFailure"), "measure once"));
    for (pointer, value, word) in cases {
        let pointer = format!("/spec/template/spec{pointer}");
        let refused = policy.refusals(&with(&job, &pointer, value), NAMESPACE);
        assert!(
            refused.iter().any(|m| m.contains(word)),
            "{pointer}: {refused:#?}"
        );
    }
    let repeated = with(&job, "/spec/backoffLimit", json!(3));
    assert_eq!(policy.refusals(&repeated, NAMESPACE).len(), 1);
    let elsewhere = policy.refusals(&job, "team-a");
    assert!(
        elsewhere[0].contains("in its own namespace only"),
        "{elsewhere:#?}"
    );
}

#[test]
fn pods_that_a_cold_start_creates_are_admitted_and_stay_restricted() {
    let (pods, cold) = (
        Policy::named("pods", &[]),
        Policy::named("cold-starts", &[]),
    );
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

#[test]
fn only_probes_of_loads_share_the_nodes_process_ids_and_only_where_the_chart_allows_duets() {
    let host_pid = |job: &Value| with(job, "/spec/template/spec/hostPID", json!(true));
    let job = host_pid(&runs::jobs(MeterLevel::Cgroup).remove(0));
    let off = Policy::named("probes", &[]).refusals(&job, NAMESPACE);
    assert!(
        off.iter().any(|m| m.contains("duet.enabled is false")),
        "{off:#?}"
    );
    let set = ["--set", "duet.enabled=true"];
    let probes = Policy::named("probes", &set);
    assert_eq!(probes.refusals(&job, NAMESPACE), Vec::<String>::new());
    let with_token = "/spec/template/spec/automountServiceAccountToken";
    let refused = [
        host_pid(&runs::cold_job()),
        with(&job, with_token, json!(true)),
    ];
    for job in refused {
        let refused = probes.refusals(&job, NAMESPACE);
        assert!(
            refused
                .iter()
                .any(|m| m.contains("process ids") || m.contains("token")),
            "{job:#}: {refused:#?}"
        );
    }
    let pod = with(
        &runs::cold_subjects().remove(0),
        "/spec/hostPID",
        json!(true),
    );
    let refused = Policy::named("pods", &set).refusals_of(COLD_START, &pod, "team-a");
    assert!(refused.iter().any(|m| m.contains("the node's processes")));
}

#[test]
fn a_cold_start_creates_and_deletes_cold_subjects_of_runs_and_no_other_pod() {
    let policy = Policy::named("cold-starts", &[]);
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
    for pod in others {
        assert_eq!(
            policy.deletion_refused(COLD_START, &pod).len(),
            1,
            "{pod:#}"
        );
        let created = policy.refusals_of(COLD_START, &pod, "team-a");
        assert_eq!(created.len(), 1, "{pod:#}");
    }
}

#[test]
fn a_probe_of_density_has_the_token_and_the_views_of_its_level_and_no_more() {
    use wasmbench_core::wire::request::MeterLevel;
    let policy = Policy::named("probes", &[]);
    let none = Policy::named("probes", &["--set", "meter.level=none"]);
    let job = runs::density_job(MeterLevel::Cgroup);
    assert_eq!(policy.refusals(&job, NAMESPACE), Vec::<String>::new());
    let blind = runs::density_job(MeterLevel::None);
    assert_eq!(none.refusals(&blind, NAMESPACE), Vec::<String>::new());
    let refused = none.refusals(&job, NAMESPACE);
    assert!(
        refused.iter().any(|m| m.contains("meter.level is none")),
        "{refused:#?}"
    );
    let root = json!([{ "name": "root", "hostPath": { "path": "/" } }]);
    let job = with(&job, "/spec/template/spec/volumes", root);
    let refused = policy.refusals(&job, NAMESPACE);
    assert!(
        refused.iter().any(|m| m.contains("only to read")),
        "{refused:#?}"
    );
}

#[test]
fn the_token_of_cold_starts_is_for_their_probes_only() {
    let policy = Policy::named("probes", &[]);
    let job = runs::cold_job();
    assert_eq!(policy.refusals(&job, NAMESPACE), Vec::<String>::new());
    let spec = |path: &str| format!("/spec/template/spec{path}");
    let load = runs::jobs(wasmbench_core::wire::request::MeterLevel::Cgroup).remove(0);
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
    let off = Policy::named("probes", &["--set", "coldStart.enabled=false"]);
    let refused = off.refusals(&job, NAMESPACE);
    assert!(
        refused[0].contains("coldStart.enabled is false"),
        "{refused:#?}"
    );
}

#[test]
fn the_socket_of_containerd_is_for_probes_of_cold_starts_at_the_level_node_only() {
    use wasmbench_core::wire::request::MeterLevel;
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

#[test]
fn pods_and_jobs_of_others_are_none_of_the_policies_business() {
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

#[test]
fn the_requester_is_asked_for_rights_when_a_run_starts_and_only_then() {
    let policy = Policy::named("requester", &[]);
    let asked = |operation: &str, old: Option<Value>, new: Value| {
        let request = AdmissionRequest {
            operation: operation.into(),
            ..by("alice", "team-a")
        };
        let mut evaluator = VapEvaluator::builder().object(new).request(request);
        if let Some(old) = old {
            evaluator = evaluator.old_object(old);
        }
        policy.matches(&evaluator.build())
    };
    let running = json!({ "spec": {} });
    let suspended = json!({ "spec": { "suspend": true } });
    let resumed = json!({ "spec": { "suspend": false } });
    assert!(asked("CREATE", None, running.clone()));
    assert!(asked("CREATE", None, suspended.clone()));
    assert!(asked("UPDATE", Some(suspended.clone()), resumed));
    assert!(asked("UPDATE", Some(suspended.clone()), running.clone()));
    assert!(
        !asked("UPDATE", Some(running.clone()), suspended),
        "stopping is free"
    );
    assert!(
        !asked("UPDATE", Some(running.clone()), running),
        "so are labels and finalizers"
    );
    let check = policy.spec["validations"][0]["expression"]
        .as_str()
        .unwrap();
    assert_eq!(
        check,
        "authorizer.group('').resource('pods').namespace(request.namespace).check('create').allowed()"
    );
}
