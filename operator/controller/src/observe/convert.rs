//! Converts API objects to what was seen, as plain data. Pure. Objects of other owners are left
//! out.

use std::collections::BTreeMap;
use std::net::IpAddr;

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ContainerStatus, Node, Pod, PodSpec};
use k8s_openapi::api::node::v1::RuntimeClass;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::ResourceExt;
use wasmbench_api::owner::belongs_to;
use wasmbench_api::quantity::thousandths;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::leader::holder;
use wasmbench_core::build::probe_job::SUBJECT_UID;
use wasmbench_core::build::subject_pod::desired_subject;
use wasmbench_core::build::upstream_pod::upstream_pod;
use wasmbench_core::observed::{
    JobEnd, ObservedLease, ObservedNode, ObservedPod, ObservedProbe, ObservedSubject,
    ObservedTaint, PodState, Waiting,
};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered::{Likeness, compare_pod, likeness};
use wasmbench_model::containers;
use wasmbench_model::images::Images;
use wasmbench_model::quote::{log, start_of};
use wasmbench_model::wire::record::TrialId;

use crate::scale::noted;

/// Taints that Kubernetes sets by itself while a node cannot take pods.
const STATE_TAINTS: [&str; 3] = [
    "node.kubernetes.io/unschedulable",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
];
/// The label in which a Job's pods carry its name.
const JOB_NAME: &str = "batch.kubernetes.io/job-name";
/// Waiting reasons of pods that are just starting.
const ON_ITS_WAY: [&str; 2] = ["ContainerCreating", "PodInitializing"];

/// The run's subjects; `node` is the one that the run holds.
pub fn subjects(pods: &[Pod], run: &ValidatedRun, node: &str) -> Vec<ObservedSubject> {
    let observed = |pod| {
        let mut observed = observed_subject(pod)?;
        let desired = desired_subject(run, &observed.trial, node);
        let likeness = desired.map(|desired| likeness(&desired, pod));
        observed.pod.likeness = likeness.unwrap_or_default();
        Some(observed)
    };
    with_role(pods, run, labels::COMPONENT_SUBJECT)
        .filter_map(observed)
        .collect()
}

/// Pods that a cold-start or density probe has not removed yet.
pub fn cold_subjects(pods: &[Pod], run: &ValidatedRun) -> Vec<ObservedSubject> {
    with_role(pods, run, labels::COMPONENT_COLD_SUBJECT)
        .filter_map(observed_subject)
        .collect()
}

fn observed_subject(pod: &Pod) -> Option<ObservedSubject> {
    Some(ObservedSubject {
        trial: trial_of(&pod.metadata)?,
        pod: observed_pod(pod)?,
    })
}

/// The run's echo servers; `node` is the one that the run holds.
pub fn upstreams(
    pods: &[Pod],
    run: &ValidatedRun,
    images: &Images,
    node: &str,
) -> Vec<ObservedPod> {
    let desired = upstream_pod(run, images, node, 0);
    let observed = |pod| {
        Some(ObservedPod {
            likeness: likeness(&desired, pod),
            ..observed_pod(pod)?
        })
    };
    with_role(pods, run, labels::COMPONENT_UPSTREAM)
        .filter_map(observed)
        .collect()
}

fn with_role<'a>(
    pods: &'a [Pod],
    run: &'a ValidatedRun,
    role: &'a str,
) -> impl Iterator<Item = &'a Pod> {
    pods.iter()
        .filter(|pod| belongs_to::<BenchmarkRun>(&pod.metadata, &run.uid))
        .filter(move |pod| {
            pod.labels()
                .get(labels::COMPONENT)
                .is_some_and(|found| found == role)
        })
}

/// Probe Jobs with their pods. A pod whose Job is gone still counts, as a probe that is being
/// deleted: it may still use the node.
pub fn probes(jobs: &[Job], pods: &[Pod]) -> Vec<ObservedProbe> {
    let job_of = |pod: &Pod| pod.labels().get(JOB_NAME).cloned();
    let from_job = |job: &Job| {
        let name = job.name_any();
        Some(ObservedProbe {
            trial: trial_of(&job.metadata)?,
            subject_uid: job
                .annotations()
                .get(SUBJECT_UID)
                .cloned()
                .unwrap_or_default(),
            uid: job.uid().unwrap_or_default(),
            created: created(&job.metadata),
            deleting: job.metadata.deletion_timestamp.is_some(),
            end: end_of(job),
            pod: pods
                .iter()
                .find(|pod| job_of(pod).as_deref() == Some(&name))
                .and_then(|pod| observed_probe(job, pod)),
            job: name,
        })
    };
    let orphan = |pod: &Pod| {
        let job = job_of(pod)?;
        if jobs.iter().any(|known| known.name_any() == job) {
            return None;
        }
        let trial = trial_of(&pod.metadata)?;
        Some(ObservedProbe {
            trial,
            job,
            uid: String::new(),
            created: created(&pod.metadata),
            subject_uid: String::new(),
            deleting: true,
            end: None,
            pod: observed_pod(pod),
        })
    };
    jobs.iter()
        .filter_map(from_job)
        .chain(pods.iter().filter_map(orphan))
        .collect()
}

/// The pod of `job`, compared with what the Job asks for.
fn observed_probe(job: &Job, pod: &Pod) -> Option<ObservedPod> {
    let template = job.spec.as_ref().map(|spec| &spec.template);
    let desired: Option<&PodSpec> = template.and_then(|template| template.spec.as_ref());
    Some(ObservedPod {
        likeness: desired
            .map(|desired| compare_pod(desired, pod))
            .unwrap_or_default(),
        ..observed_pod(pod)?
    })
}

fn trial_of(meta: &ObjectMeta) -> Option<TrialId> {
    meta.annotations.as_ref()?.get(labels::TRIAL)?.parse().ok()
}

/// How a Job ended.
pub fn end_of(job: &Job) -> Option<JobEnd> {
    let conditions = job.status.as_ref()?.conditions.as_ref()?;
    let first = |types: &[&str]| {
        let mut all = conditions.iter();
        all.find(|c| types.contains(&&*c.type_) && c.status == "True")
    };
    // `FailureTarget` is set first, before the Job controller removes the pod.
    if let Some(failed) = first(&["Failed", "FailureTarget"]) {
        let reason = failed.reason.clone().unwrap_or_else(|| "Failed".into());
        return Some(JobEnd::Failed(reason));
    }
    first(&["Complete"]).map(|_| JobEnd::Completed)
}

fn created(meta: &ObjectMeta) -> Timestamp {
    let time = meta.creation_timestamp.as_ref();
    time.map_or(Timestamp::MIN, |time| time.0)
}

/// A pod as plain data, without what was requested.
pub fn observed_pod(pod: &Pod) -> Option<ObservedPod> {
    let (spec, status) = (pod.spec.as_ref(), pod.status.as_ref());
    Some(ObservedPod {
        name: pod.metadata.name.clone()?,
        uid: pod.metadata.uid.clone()?,
        created: created(&pod.metadata),
        deleting: pod.metadata.deletion_timestamp.as_ref().map(|time| time.0),
        node: spec.and_then(|s| s.node_name.clone()),
        likeness: Likeness::default(),
        ip: status
            .and_then(|s| s.pod_ip.as_ref())
            .and_then(|ip| ip.parse::<IpAddr>().ok()),
        state: state_of(pod),
    })
}

fn state_of(pod: &Pod) -> PodState {
    let Some(status) = &pod.status else {
        return PodState::Pending(None);
    };
    let container = containers::status(pod);
    let phase = status.phase.as_deref().unwrap_or_default();
    if let Some(ended) = container.and_then(ended) {
        return ended;
    }
    if matches!(phase, "Failed" | "Succeeded") {
        // Evicted or rejected by the kubelet: there is no container status.
        return PodState::Ended {
            exit_code: None,
            reason: status.reason.clone().unwrap_or_else(|| phase.to_owned()),
            message: start_of(status.message.as_deref()),
        };
    }
    let runs = container
        .and_then(|c| c.state.as_ref())
        .is_some_and(|s| s.running.is_some());
    if runs {
        PodState::Running
    } else {
        PodState::Pending(waiting(pod, container))
    }
}

fn ended(container: &ContainerStatus) -> Option<PodState> {
    let terminated = container.state.as_ref()?.terminated.as_ref()?;
    Some(PodState::Ended {
        exit_code: Some(terminated.exit_code),
        reason: terminated.reason.clone().unwrap_or_else(|| "Error".into()),
        message: log(terminated.message.as_deref().unwrap_or_default()),
    })
}

/// Why the pod, or this container of it, is not running, unless every pod waits like that.
pub(super) fn waiting(pod: &Pod, container: Option<&ContainerStatus>) -> Option<Waiting> {
    let from_container = container
        .and_then(|c| c.state.as_ref()?.waiting.as_ref())
        // Reasons that every pod has while it starts do not count.
        .filter(|w| {
            w.reason
                .as_deref()
                .is_some_and(|reason| !ON_ITS_WAY.contains(&reason))
        })
        .and_then(|w| {
            Some(Waiting {
                reason: w.reason.clone()?,
                message: start_of(w.message.as_deref()),
            })
        });
    let unscheduled = || {
        let conditions = pod.status.as_ref()?.conditions.as_ref()?;
        let scheduled = conditions
            .iter()
            .find(|c| c.type_ == "PodScheduled" && c.status == "False")?;
        Some(Waiting {
            reason: scheduled.reason.clone()?,
            message: start_of(scheduled.message.as_deref()),
        })
    };
    from_container.or_else(unscheduled)
}

/// A node as plain data.
pub fn node(node: &Node) -> ObservedNode {
    let spec = node.spec.as_ref();
    let conditions = node.status.as_ref().and_then(|s| s.conditions.as_ref());
    let ready = conditions
        .into_iter()
        .flatten()
        .find(|c| c.type_ == "Ready");
    let taints = spec.and_then(|s| s.taints.as_ref()).into_iter().flatten();
    ObservedNode {
        name: node.name_any(),
        labels: node.labels().clone(),
        taints: taints
            .filter(|taint| taint.effect != "PreferNoSchedule")
            // `ready` and `cordoned` are the same in a shorter form.
            .filter(|taint| !STATE_TAINTS.contains(&taint.key.as_str()))
            .map(|taint| ObservedTaint {
                key: taint.key.clone(),
                value: taint.value.clone().unwrap_or_default(),
                effect: taint.effect.clone(),
            })
            .collect(),
        ready: ready.is_some_and(|c| c.status == "True"),
        ready_changed: ready.and_then(|c| Some(c.last_transition_time.as_ref()?.0)),
        cordoned: spec.and_then(|s| s.unschedulable).unwrap_or_default(),
        cpus: cpus(node),
    }
}

/// The node's whole CPUs.
fn cpus(node: &Node) -> Option<u32> {
    let capacity = node.status.as_ref()?.capacity.as_ref()?;
    let thousandths = thousandths(&capacity.get("cpu")?.0)?;
    u32::try_from(thousandths / 1000).ok()
}

/// The labels that a RuntimeClass requires of nodes, by its name.
pub fn class_labels(class: &RuntimeClass) -> (String, BTreeMap<String, String>) {
    let scheduling = class.scheduling.as_ref();
    let selector = scheduling.and_then(|scheduling| scheduling.node_selector.clone());
    (class.name_any(), selector.unwrap_or_default())
}

/// A claim on a node as plain data.
pub fn lease(lease: &Lease) -> Option<ObservedLease> {
    Some(ObservedLease {
        node: lease.annotations().get(labels::NODE)?.clone(),
        holder: holder(lease).map(str::to_owned),
        resource_version: lease.resource_version(),
        scaled: noted(lease).map(Box::new),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A pod in which an injected container stands before ours.
    fn with_proxy(component: &str, ours: &str, state: &serde_json::Value) -> Pod {
        let status = |name: &str, state: &serde_json::Value| {
            json!({
                "name": name, "image": "a", "imageID": "", "ready": true, "restartCount": 0,
                "state": state,
            })
        };
        let proxy = status("istio-proxy", &json!({ "running": {} }));
        serde_json::from_value(json!({
            "metadata": { "name": "p", "uid": "1", "labels": { labels::COMPONENT: component } },
            "status": { "phase": "Running", "containerStatuses": [proxy, status(ours, state)] },
        }))
        .unwrap()
    }

    #[test]
    fn the_state_of_a_pod_is_that_of_our_container() {
        for (component, ours) in [
            (labels::COMPONENT_SUBJECT, "subject"),
            (labels::COMPONENT_COLD_SUBJECT, "subject"),
            (labels::COMPONENT_PROBE, "probe"),
            (labels::COMPONENT_UPSTREAM, "upstream"),
        ] {
            let observed_state = |state| {
                observed_pod(&with_proxy(component, ours, &state))
                    .unwrap()
                    .state
            };
            let ended = observed_state(json!({ "terminated": { "exitCode": 3 } }));
            let is_ended = matches!(
                &ended,
                PodState::Ended {
                    exit_code: Some(3),
                    ..
                }
            );
            assert!(is_ended, "{component}: {ended:?}");
            let waits = observed_state(json!({ "waiting": { "reason": "ImagePullBackOff" } }));
            let is_waiting = matches!(&waits, PodState::Pending(Some(_)));
            assert!(is_waiting, "{component}: {waits:?}");
        }
    }

    #[test]
    fn a_probe_is_compared_with_what_its_job_asks_for() {
        let spec = |names: &[&str]| {
            let all = names.iter().map(|name| json!({ "name": name }));
            json!({ "containers": all.collect::<Vec<_>>() })
        };
        let meta = json!({
            "name": "j", "uid": "1", "labels": { JOB_NAME: "j" },
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": { labels::TRIAL: "native/hello/warm/b1" },
        });
        let template = json!({ "spec": spec(&["probe"]) });
        let job = json!({ "metadata": meta, "spec": { "template": template } });
        let job: Job = serde_json::from_value(job).unwrap();
        let observed = |names: &[&str]| {
            let pod = json!({ "metadata": meta, "spec": spec(names) });
            let pod: Pod = serde_json::from_value(pod).unwrap();
            let mut probes = probes(std::slice::from_ref(&job), &[pod]);
            probes.remove(0).pod.unwrap().likeness
        };
        assert_eq!(observed(&["probe"]), Likeness::Unaltered);
        let altered = observed(&["probe", "linkerd-proxy"]);
        let is_named =
            matches!(&altered, Likeness::Altered(text) if text.contains("linkerd-proxy"));
        assert!(is_named, "{altered:?}");
    }

    #[test]
    fn a_container_that_ended_has_the_cause_in_its_log() {
        let log = format!("KeyError: 'DATABASE_URL'\n{}\n", "exiting\n".repeat(100));
        let state = json!({ "terminated": { "exitCode": 3, "message": log } });
        let pod = with_proxy(labels::COMPONENT_SUBJECT, "subject", &state);
        let PodState::Ended { message, .. } = observed_pod(&pod).unwrap().state else {
            panic!("it has ended");
        };
        assert!(
            message.starts_with("KeyError: 'DATABASE_URL' (the end of its log: "),
            "{message}"
        );
        assert!(message.len() > 800, "{message}");
    }

    #[test]
    fn a_node_has_the_whole_cpus_of_its_capacity() {
        let cpus = |capacity: serde_json::Value| {
            let object =
                json!({ "metadata": { "name": "bench-1" }, "status": { "capacity": capacity } });
            node(&serde_json::from_value(object).unwrap()).cpus
        };
        assert_eq!(cpus(json!({ "cpu": "4" })), Some(4));
        assert_eq!(cpus(json!({ "cpu": "1930m" })), Some(1));
        assert_eq!(cpus(json!({})), None);
    }

    #[test]
    fn taints_for_cordoned_and_not_ready_nodes_are_read_as_state() {
        let taint = |key: &str, effect: &str| json!({ "key": key, "effect": effect });
        let object = json!({
            "metadata": { "name": "bench-1" },
            "spec": { "unschedulable": true, "taints": [
                taint("node.kubernetes.io/unschedulable", "NoSchedule"),
                taint("node.kubernetes.io/not-ready", "NoExecute"),
                taint("node.kubernetes.io/disk-pressure", "NoSchedule"),
                taint("better-not", "PreferNoSchedule"),
            ] },
            "status": { "conditions": [{
                "type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T00:00:00Z",
            }] },
        });
        let observed = node(&serde_json::from_value(object).unwrap());
        assert!(observed.cordoned && !observed.ready, "{observed:?}");
        let changed = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(observed.ready_changed, Some(changed));
        let keys: Vec<&str> = observed.taints.iter().map(|taint| &*taint.key).collect();
        assert_eq!(keys, ["node.kubernetes.io/disk-pressure"]);
    }
}
