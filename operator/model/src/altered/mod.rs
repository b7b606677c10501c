//! The desired and the found pod -> whether load may go to it. A webhook, a policy or an
//! autoscaler may change a pod on its way: what is then measured is not the service. Pure.
//!
//! What a cluster adds to every pod by its own rules is no alteration, but is named: the defaults
//! of a `LimitRange` ([`resources`]), what a `RuntimeClass` and a `ServiceAccount` bring along
//! ([`rules`]). Tokens, priorities and DNS settings do not change what is measured.

mod contents;
mod resources;
mod rules;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Pod, PodSpec};
use kube::ResourceExt;
use wasmbench_api::labels;

use crate::wire::addition::Addition;

/// The most differences that a message names.
const NAMED: usize = 4;

/// Whether a pod is the desired one. For pods that a cold-start or density probe created, only the
/// probe finds out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Likeness {
    /// As far as is known.
    #[default]
    Unaltered,
    /// Something changed it on its way: what, and what to do about it.
    Altered(String),
    /// The operator desires another pod now: it was updated, or its configuration changed.
    Outdated,
}

/// Whether `found` is the `desired` pod.
pub fn likeness(desired: &Pod, found: &Pod) -> Likeness {
    let fingerprint = |pod: &Pod| pod.annotations().get(labels::DESIRED_SPEC_HASH).cloned();
    if fingerprint(desired) != fingerprint(found) {
        return Likeness::Outdated;
    }
    let spec = desired.spec.clone().unwrap_or_default();
    compare_pod(&spec, found)
}

/// Whether `found` has the `desired` spec.
pub fn compare_pod(desired: &PodSpec, found: &Pod) -> Likeness {
    compare(desired, found).map_or_else(Likeness::Altered, |_| Likeness::Unaltered)
}

/// What the cluster added to `found` by its own rules, if nothing else differs from the
/// `desired` spec; otherwise the differences and what to do about them.
pub fn compare(desired: &PodSpec, found: &Pod) -> Result<Vec<Addition>, String> {
    let spec = found.spec.clone().unwrap_or_default();
    let mut differences = contents::differences(desired, &spec);
    let (set, mut added) = resources::differences(desired, found, &spec);
    differences.extend(set);
    if !differences.is_empty() {
        return Err(message(found, &differences));
    }
    added.extend(rules::additions(desired, &spec));
    Ok(added)
}

/// How the pod of a Job differs from the desired one, as the API server confirmed the
/// Job: something may change Jobs instead of pods.
pub fn job_alteration(desired: &Job, created: &Job) -> Option<String> {
    let spec = |job: &Job| job.spec.as_ref()?.template.spec.clone();
    let found = Pod {
        metadata: created.metadata.clone(),
        spec: spec(created),
        status: None,
    };
    compare(&spec(desired)?, &found).err()
}

fn message(found: &Pod, differences: &[String]) -> String {
    let named = differences.len().min(NAMED);
    let more = match differences.len() - named {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    format!(
        "pod {} is not as requested: {}{more}. Exempt namespace {} from whatever changes pods: \
         an injector, a webhook, a policy or an autoscaler",
        found.name_any(),
        differences[..named].join(", "),
        found.namespace().unwrap_or_default()
    )
}
