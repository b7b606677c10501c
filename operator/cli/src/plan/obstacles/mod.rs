//! What of a run the cluster will never measure, or not start, as far as the user may see. Pure.

mod nodes;
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
use crate::check::finding::{Finding, State};
use crate::check::judge;
use crate::check::observed::{Answer, ObservedInstallation};
use crate::plan::obstacles::nodes::{Handler, handler};
use crate::plan::obstacles::quotas::quotas;

pub use scaled::{Scalable, as_written};

/// A cluster, as far as it decides what can be measured.
#[derive(Clone, Debug)]
pub struct ObservedCluster {
    /// The installation, the nodes and the user's rights.
    pub observed: ObservedInstallation,
    /// Whether runs may have cold starts and density in the namespace.
    pub cold_starts: Answer<bool>,
    /// The quotas of the namespace.
    pub quotas: Answer<Vec<ResourceQuota>>,
    /// The objects that runs are to scale.
    pub scaled: BTreeMap<Target, Scalable>,
}

impl ObservedCluster {
    fn config(&self) -> OperatorConfig {
        let known = self.observed.config.clone();
        known.unwrap_or_else(|_| assumed::config())
    }

    /// The object that a variant names; `None` if its kind is not one that the administrator allows.
    pub fn target(&self, named: &ScaleTarget) -> Option<Target> {
        self.config().scale.target(named)
    }
}

/// What stands in the way of a run in this cluster, and what is not known.
pub fn obstacles(run: &BenchmarkRun, cluster: &ObservedCluster) -> String {
    let mut lines = known(run, cluster);
    if lines.is_empty() {
        lines.push("nothing is known to stand in the way".to_owned());
    }
    let found = judge::installation(&cluster.observed);
    let of_installation = found.iter().filter_map(not_found_out);
    let unknown = of_installation.chain(unknown(&run.spec, cluster));
    lines.extend(unknown.map(|what| format!("not known: {what}")));
    format!("\nIn this cluster\n{}\n", lines.join("\n"))
}

/// What stands in the way for certain, one line each.
pub fn known(run: &BenchmarkRun, cluster: &ObservedCluster) -> Vec<String> {
    let spec = &run.spec;
    let found = judge::installation(&cluster.observed);
    let mut lines: Vec<String> = found.iter().filter_map(missing).collect();
    lines.extend(refused(run, &cluster.observed));
    let variants = spec.variants.iter();
    lines.extend(variants.filter_map(|variant| scaled::refused(variant, cluster)));
    lines.extend(scaled::to_apply(cluster));
    lines.extend(skipped(spec, cluster));
    lines.extend(cold_starts(spec, cluster));
    lines.extend(nodes::unmatched(spec, cluster));
    lines.extend(quotas(spec, cluster));
    lines
}

/// What a run needs and the installation, the namespace or the user's rights lack.
fn missing(finding: &Finding) -> Option<String> {
    let Finding {
        what,
        found,
        remedy,
        ..
    } = finding;
    let is_missing = finding.fails() && finding.state != State::Unknown;
    is_missing.then(|| format!("{what}: {found}; {remedy}"))
}

/// What `check` could not find out.
fn not_found_out(finding: &Finding) -> Option<String> {
    let is_unknown = finding.state == State::Unknown;
    is_unknown.then(|| format!("{} ({})", finding.what, finding.found))
}

/// Why the operator refuses the run by the administrator's settings, as far as they are known.
fn refused(run: &BenchmarkRun, observed: &ObservedInstallation) -> Option<String> {
    let config = observed.config.as_ref().ok()?;
    let mut run = run.clone();
    // A run of a file without a namespace goes to this one.
    run.metadata
        .namespace
        .get_or_insert_with(|| observed.namespace.clone());
    let refusal = admit(&run, config).err()?;
    Some(format!("the operator refuses the run: {refusal}"))
}

/// Variants that are skipped, and whether anything is left to compare.
fn skipped(spec: &BenchmarkRunSpec, cluster: &ObservedCluster) -> Vec<String> {
    let reasons: BTreeMap<&str, String> = spec
        .variants
        .iter()
        .filter_map(|variant| Some((variant.name.as_str(), why_skipped(variant, spec, cluster)?)))
        .collect();
    let mut lines: Vec<String> = reasons
        .iter()
        .map(|(variant, why)| format!("{variant} is never measured: {why}"))
        .collect();
    for variant in &spec.variants {
        if let Some(Handler::NotEverywhere(why)) = handler(variant, spec, cluster) {
            lines.push(why);
        }
    }
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

fn why_skipped(
    variant: &Variant,
    spec: &BenchmarkRunSpec,
    cluster: &ObservedCluster,
) -> Option<String> {
    let subject = subject(variant, &cluster.config())?;
    if let Some(target) = &subject.target {
        return scaled::not_offered(target, cluster);
    }
    if let Some(why) = subject.not_allowed {
        return Some(why.to_owned());
    }
    let class = subject.runtime_class?;
    let classes = cluster.observed.runtime_classes.as_ref().ok()?;
    if !classes.contains_key(&class) {
        return Some(format!(
            "there is no RuntimeClass '{class}'; install the shim and its RuntimeClass, or remove the variant"
        ));
    }
    match handler(variant, spec, cluster)? {
        Handler::Nowhere(why) => Some(why),
        Handler::NotEverywhere(_) | Handler::NotReported(_) => None,
    }
}

/// Whether a sweep's probe creates pods itself.
fn creates_pods(spec: &BenchmarkRunSpec) -> bool {
    spec.sweeps.cold_start.is_some() || spec.sweeps.density.is_some()
}

fn cold_starts(spec: &BenchmarkRunSpec, cluster: &ObservedCluster) -> Option<String> {
    let is_forbidden = creates_pods(spec) && cluster.cold_starts == Ok(false);
    is_forbidden.then(|| {
        format!(
            "cold starts and density are never measured: have an administrator add namespace {} to coldStart.namespaces of \
             the chart, or remove these sweeps",
            cluster.observed.namespace
        )
    })
}

/// What the user's rights do not show.
fn unknown(spec: &BenchmarkRunSpec, cluster: &ObservedCluster) -> Vec<String> {
    let observed = &cluster.observed;
    let cold_starts = cluster.cold_starts.as_ref().err();
    let answers = [
        ("RuntimeClasses", observed.runtime_classes.as_ref().err()),
        ("nodes", observed.nodes.as_ref().err()),
        ("quotas", cluster.quotas.as_ref().err()),
        (
            "the administrator's limits, which the operator checks when the run is created",
            observed.config.as_ref().err(),
        ),
        (
            "whether coldStart.namespaces of the chart has the namespace, which cold starts and density need",
            cold_starts.filter(|_| creates_pods(spec)),
        ),
    ];
    let unknown = answers
        .into_iter()
        .filter_map(|(what, why)| Some((what, why?)));
    let mut lines: Vec<String> = unknown
        .map(|(what, why)| format!("{what} ({why})"))
        .collect();
    for variant in &spec.variants {
        if let Some(Handler::NotReported(what)) = handler(variant, spec, cluster) {
            lines.push(what);
        }
    }
    lines.extend(quotas::unknown(spec, cluster));
    lines.extend(scaled::unknown(cluster));
    lines
}

#[cfg(test)]
mod tests;
