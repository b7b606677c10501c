//! Quotas of the namespace that leave a pod no room. Pure.

use k8s_openapi::api::core::v1::ResourceQuota;
use kube::ResourceExt as _;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::quantity::thousandths;
use wasmbench_api::run::{CpuAndMemory, SubjectResources};

use crate::plan::obstacles::ObservedCluster;

/// Quotas that refuse the pod of a variant. More than one pod at once is not reckoned with.
pub(super) fn quotas(spec: &BenchmarkRunSpec, cluster: &ObservedCluster) -> Vec<String> {
    refusals(spec, cluster, |quota| !has_scopes(quota))
}

/// Quotas that would refuse one, and of which it is not known whether they count it.
pub(super) fn unknown(spec: &BenchmarkRunSpec, cluster: &ObservedCluster) -> Vec<String> {
    let refusals = refusals(spec, cluster, has_scopes);
    let line =
        |refusal: String| format!("whether the scopes of this quota hold the pod of {refusal}");
    refusals.into_iter().map(line).collect()
}

/// Whether the quota counts some pods alone, such as those of a priority class.
fn has_scopes(quota: &ResourceQuota) -> bool {
    let spec = quota.spec.as_ref();
    spec.is_some_and(|spec| {
        let is_listed = spec
            .scopes
            .as_ref()
            .is_some_and(|scopes| !scopes.is_empty());
        is_listed || spec.scope_selector.is_some()
    })
}

fn refusals(
    spec: &BenchmarkRunSpec,
    cluster: &ObservedCluster,
    counts: impl Fn(&ResourceQuota) -> bool,
) -> Vec<String> {
    let quotas = cluster.quotas.iter().flatten();
    let mut lines = vec![];
    for quota in quotas.filter(|quota| counts(quota)) {
        // What is scaled has the resources of its own template, which is not read here.
        let ours = spec.variants.iter();
        for variant in ours.filter(|variant| variant.scale.is_none()) {
            let resources = spec.resources_of(variant);
            let refusal = refusal(quota, &resources);
            lines.extend(refusal.map(|why| format!("{}: {why}", variant.name)));
        }
    }
    lines
}

fn refusal(quota: &ResourceQuota, resources: &SubjectResources) -> Option<String> {
    let name = quota.name_any();
    let status = quota.status.clone().unwrap_or_default();
    let used = status.used.unwrap_or_default();
    for (key, hard) in status.hard.unwrap_or_default() {
        let Some(needed) = needed(&key, resources) else {
            continue;
        };
        let Some(needed) = needed else {
            return Some(format!(
                "quota {name} asks every pod for {key}, and there is none; set it in spec.resources, unless a LimitRange does"
            ));
        };
        let amount = |text: &str| thousandths(text).unwrap_or_default();
        let taken = used.get(&key).map_or(0, |used| amount(&used.0));
        if taken + amount(&needed) > amount(&hard.0) {
            let used = used.get(&key).map_or("0", |used| used.0.as_str());
            return Some(format!(
                "quota {name} allows {} of {key}, of which {used} are taken, and a pod needs {needed}; free some, or request less",
                hard.0
            ));
        }
    }
    None
}

/// How much of a quota's resource a pod needs: `None` if it is none of a pod's, and inside it `None`
/// if the pod states no amount.
#[expect(clippy::option_option, reason = "both are answers, and differ")]
fn needed(key: &str, resources: &SubjectResources) -> Option<Option<String>> {
    let cpu = |amounts: &Option<CpuAndMemory>| amounts.clone()?.cpu;
    let memory = |amounts: &Option<CpuAndMemory>| amounts.clone()?.memory;
    let SubjectResources { requests, limits } = resources;
    Some(match key {
        "pods" | "count/pods" => Some("1".to_owned()),
        "cpu" | "requests.cpu" => cpu(requests).or_else(|| cpu(limits)),
        "memory" | "requests.memory" => memory(requests).or_else(|| memory(limits)),
        "limits.cpu" => cpu(limits),
        "limits.memory" => memory(limits),
        _ => return None,
    })
}
