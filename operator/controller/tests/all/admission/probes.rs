//! Jobs that measure.

use serde_json::json;
use wasmbench_model::wire::request::MeterLevel;

use super::support::{ways_out, with};
use crate::support::chart::NAMESPACE;
use crate::support::policy::Policy;
use crate::support::runs;

#[test]
fn probes_that_the_operator_creates_are_admitted() {
    let cgroup = Policy::named("probes", &[]);
    let none = Policy::named("probes", &["--set", "meter.level=none"]);
    for job in runs::jobs(MeterLevel::Cgroup) {
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
    for job in runs::jobs(MeterLevel::None) {
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
    let job = runs::jobs(MeterLevel::Cgroup).remove(0);
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
fn a_density_probe_has_the_token_and_views_of_its_level_only() {
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
fn a_probe_mounts_what_it_sends_only_from_the_config_map_of_its_own_name() {
    for (meter, settings) in [
        (MeterLevel::Cgroup, &[][..]),
        (MeterLevel::None, &["--set", "meter.level=none"][..]),
    ] {
        let policy = Policy::named("probes", settings);
        for job in runs::jobs_with_a_body(meter) {
            let job = serde_json::to_value(job).unwrap();
            assert_eq!(
                policy.refusals(&job, NAMESPACE),
                Vec::<String>::new(),
                "{job:#}"
            );
            let spec = &job["spec"]["template"]["spec"];
            let last = spec["volumes"].as_array().unwrap().len() - 1;
            let volume = format!("/spec/template/spec/volumes/{last}");
            let mount = format!("/spec/template/spec/containers/0/volumeMounts/{last}/readOnly");
            for (pointer, value) in [
                (format!("{volume}/configMap/name"), json!("coredns")),
                (
                    volume,
                    json!({"name": "bodies", "secret": {"secretName": "a"}}),
                ),
                (mount, json!(false)),
            ] {
                let refused = policy.refusals(&with(&job, &pointer, value), NAMESPACE);
                assert!(
                    refused
                        .iter()
                        .any(|m| m.contains("ConfigMap of their own name")),
                    "{pointer}: {refused:#?}"
                );
            }
        }
    }
}
