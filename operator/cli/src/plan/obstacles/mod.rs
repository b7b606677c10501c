//! What of a run the cluster will never measure, or not start, as far as the user may see. Pure.

mod quotas;
mod scaled;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceQuota;
use wasmbench_api::run::{ScaleTarget, Variant};
use wasmbench_api::{BenchmarkRun, BenchmarkRunSpec};
use wasmbench_core::admit::admit;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::scale::Target;
use wasmbench_core::subject::subject;

use crate::assumed;
use crate::check::seen::{Answer, Seen};
use crate::plan::obstacles::quotas::quotas;

pub use scaled::{Scalable, as_written};

/// A cluster, as far as it decides what can be measured.
#[derive(Clone, Debug)]
pub struct ClusterSeen {
    /// The installation, the nodes and the user's rights.
    pub seen: Seen,
    /// The quotas of the namespace.
    pub quotas: Answer<Vec<ResourceQuota>>,
    /// The objects that runs are to scale.
    pub scaled: BTreeMap<Target, Scalable>,
}

impl ClusterSeen {
    fn config(&self) -> OperatorConfig {
        let known = self.seen.config.clone();
        known.unwrap_or_else(|_| assumed::config())
    }

    /// The object that a variant names; `None` if its kind is not one that the administrator allows.
    pub fn target(&self, named: &ScaleTarget) -> Option<Target> {
        self.config().scale.target(named)
    }
}

/// What stands in the way of a run in this cluster, and what is not known.
pub fn obstacles(run: &BenchmarkRun, cluster: &ClusterSeen) -> String {
    let spec = &run.spec;
    let mut lines = not_started(&cluster.seen);
    lines.extend(refused(run, &cluster.seen));
    let variants = spec.variants.iter();
    lines.extend(variants.filter_map(|variant| scaled::refused(variant, cluster)));
    lines.extend(skipped(spec, cluster));
    lines.extend(nodes(spec, &cluster.seen));
    lines.extend(quotas(spec, cluster));
    if lines.is_empty() {
        lines.push("nothing is known to stand in the way".to_owned());
    }
    lines.extend(unknown(cluster));
    format!("\nIn this cluster\n{}\n", lines.join("\n"))
}

fn not_started(seen: &Seen) -> Vec<String> {
    let namespace = &seen.namespace;
    if seen.namespace_exists == Ok(false) {
        return vec![format!(
            "there is no namespace {namespace}: choose another one with -n, or create it"
        )];
    }
    let missing = seen.rights.iter().filter(|(_, may)| *may == Ok(false));
    missing
        .map(|(words, _)| {
            format!("you may not {words} in namespace {namespace}: see kubectl wasmbench check -n {namespace}")
        })
        .collect()
}

/// Why the operator refuses the run by the administrator's settings, as far as they are known.
fn refused(run: &BenchmarkRun, seen: &Seen) -> Option<String> {
    let config = seen.config.as_ref().ok()?;
    let mut run = run.clone();
    // A run of a file without a namespace goes to this one.
    run.metadata
        .namespace
        .get_or_insert_with(|| seen.namespace.clone());
    let refusal = admit(&run, config).err()?;
    Some(format!("the operator refuses the run: {refusal}"))
}

/// Variants that are skipped, and whether anything is left to compare.
fn skipped(spec: &BenchmarkRunSpec, cluster: &ClusterSeen) -> Vec<String> {
    let reasons: BTreeMap<&str, String> = spec
        .variants
        .iter()
        .filter_map(|variant| Some((variant.name.as_str(), why_skipped(variant, cluster)?)))
        .collect();
    let mut lines: Vec<String> = reasons
        .iter()
        .map(|(variant, why)| format!("{variant} is never measured: {why}"))
        .collect();
    let (all, left) = (spec.variants.len(), spec.variants.len() - reasons.len());
    if left == 0 {
        lines.push("nothing is left to measure: do not start this run".to_owned());
    } else if all > 1 && reasons.contains_key(spec.baseline_name()) {
        lines.push(
            "nothing can be compared, because the baseline is not measured: set spec.baseline to another variant".to_owned(),
        );
    } else if all > 1 && left == 1 {
        lines.push(
            "nothing can be compared, because one variant is left: remove the cause, or name another variant".to_owned(),
        );
    }
    lines
}

fn why_skipped(variant: &Variant, cluster: &ClusterSeen) -> Option<String> {
    let subject = subject(variant, &cluster.config())?;
    if let Some(target) = &subject.target {
        return scaled::not_offered(target, cluster);
    }
    if let Some(why) = subject.not_allowed {
        return Some(why.to_owned());
    }
    let class = subject.runtime_class?;
    let classes = cluster.seen.runtime_classes.as_ref().ok()?;
    let exists = classes.contains_key(&class);
    (!exists).then(|| {
        format!("there is no RuntimeClass '{class}'; install the shim and its RuntimeClass, or remove the variant")
    })
}

/// Whether no node has all the labels.
fn nodes(spec: &BenchmarkRunSpec, seen: &Seen) -> Option<String> {
    let nodes = seen.nodes.as_ref().ok()?;
    let mut labels = spec.placement.clone().unwrap_or_default().node_selector;
    if let Ok(config) = &seen.config {
        labels.extend(config.limits.node_selector.clone());
    }
    if nodes.iter().any(|node| node.has(&labels)) {
        return None;
    }
    let labels: Vec<String> = labels
        .iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    Some(format!(
        "none of the {} nodes has the labels {}: the run fails after ten minutes; correct spec.placement.nodeSelector",
        nodes.len(),
        labels.join(", ")
    ))
}

/// What the user's rights do not show.
fn unknown(cluster: &ClusterSeen) -> Vec<String> {
    let seen = &cluster.seen;
    let answers = [
        ("RuntimeClasses", seen.runtime_classes.as_ref().err()),
        ("nodes", seen.nodes.as_ref().err()),
        ("quotas", cluster.quotas.as_ref().err()),
        (
            "the administrator's limits, which the operator checks when the run is created",
            seen.config.as_ref().err(),
        ),
    ];
    let unknown = answers
        .into_iter()
        .filter_map(|(what, why)| Some((what, why?)));
    let lines = unknown.map(|(what, why)| format!("not known: {what} ({why})"));
    lines.chain(scaled::unknown(cluster)).collect()
}

#[cfg(test)]
mod tests;
