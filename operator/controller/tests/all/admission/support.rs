//! Objects with more than the operator gives them.

use serde_json::{Value, json};
use wasmbench_api::BenchmarkSchedule;
use wasmbench_core::build::config_map;

use crate::support::chart::repository;

/// The schedule of the samples, as the API server has it.
pub fn nightly() -> BenchmarkSchedule {
    let path = repository().join("manifests/samples/nightly.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let mut nightly: BenchmarkSchedule = serde_yaml::from_str(&text).unwrap();
    nightly.metadata.uid = Some("6f0c0e6e-0000-4000-8000-000000000001".into());
    nightly
}

/// Its history, as the operator writes it.
pub fn history() -> Value {
    let map = config_map::history(&nightly(), "history.json.gz", vec![]);
    serde_json::to_value(map).unwrap()
}

/// `object` with `value` at a JSON pointer.
pub fn with(object: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = object.clone();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let name = name.replace("~1", "/");
    let parent = changed
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("{pointer}"));
    match parent.as_array_mut() {
        Some(items) => items.push(value),
        None => parent[name] = value,
    }
    changed
}

/// Ways to break out of a pod, as pointers into its spec, each with words of the refusal.
pub fn ways_out() -> Vec<(&'static str, Value, &'static str)> {
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
