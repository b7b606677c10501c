//! A run's spec, the administrator's settings and the cluster's `RuntimeClasses` in, what the run
//! demands of its node out. Pure.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::quantity::thousandths;
use wasmbench_api::run::{CpuAndMemory, SubjectResources, Variant};
use wasmbench_model::variants::catalogue::definition_of;

use crate::config::OperatorConfig;
use crate::observed::{CpuDemand, Demands, LabelDemand};
use crate::scale::Target;
use crate::subject;

/// Labels that every kubelet sets by itself.
const ARCHITECTURE: &str = "kubernetes.io/arch";
const OPERATING_SYSTEM: &str = "kubernetes.io/os";
/// Every run needs the probe's image, whatever its variants run.
const IMAGES: &str = "wasmbench's images: image.architectures of the chart";

/// The labels that each `RuntimeClass` requires of nodes (`scheduling.nodeSelector`), by its name.
pub type RuntimeClassLabels = BTreeMap<String, BTreeMap<String, String>>;

/// The labels that the template of each object demands of nodes (`nodeSelector`).
pub type TemplateLabels = BTreeMap<Target, BTreeMap<String, String>>;

/// What a run with this `spec` demands of its node. `node` is the one that its records come from.
pub fn demands(
    spec: &BenchmarkRunSpec,
    config: &OperatorConfig,
    classes: &RuntimeClassLabels,
    node: Option<String>,
) -> Demands {
    let placement = spec.placement.clone().unwrap_or_default();
    let mut labels = vec![
        demand(OPERATING_SYSTEM, vec!["linux".into()], IMAGES),
        demand(ARCHITECTURE, config.image_architectures.clone(), IMAGES),
    ];
    labels.extend(each(
        &placement.node_selector,
        "spec.placement.nodeSelector",
    ));
    labels.extend(each(
        &config.limits.node_selector,
        "the administrator's limits.nodeSelector",
    ));
    for (class, selector) in used(spec, config, classes) {
        labels.extend(each(selector, &format!("RuntimeClass {class}")));
    }
    Demands {
        labels,
        cpus: cpus(spec),
        tolerations: placement.tolerations,
        node,
        missing_classes: missing_classes(spec, config, classes),
    }
}

/// The same `demands`, with those of the templates of objects that the variants scale: the pods of these
/// objects go nowhere else.
pub fn with_templates(demands: Demands, templates: &TemplateLabels) -> Demands {
    let mut demands = demands;
    for (target, selector) in templates {
        let by = format!("the template of {target}");
        demands.labels.extend(each(selector, &by));
    }
    demands
}

/// How many CPUs the variants need, by the one that needs most. `None` where one is enough.
pub fn cpus(spec: &BenchmarkRunSpec) -> Option<CpuDemand> {
    // The first of equals: the twin comes last.
    let variants = spec.variants.iter().rev();
    let demands = variants.flat_map(|variant| [requested(spec, variant), threads(variant)]);
    let demands = demands.flatten().filter(|demand| demand.cpus > 1);
    demands.max_by_key(|demand| demand.cpus)
}

/// A CPU for each thread: threads that wait for each other's CPU would not show how an engine
/// scales.
fn threads(variant: &Variant) -> Option<CpuDemand> {
    let settings = variant.engine.unwrap_or_default();
    Some(CpuDemand {
        cpus: definition_of(variant)?.threads(settings)?,
        by: format!("engine.threads of variant {}", variant.name),
    })
}

/// More CPUs than a pod requests: on every node others request some, too. Without a request, the
/// limit is one.
fn requested(spec: &BenchmarkRunSpec, variant: &Variant) -> Option<CpuDemand> {
    let SubjectResources { requests, limits } = spec.resources_of(variant);
    let cpu = |amounts: Option<CpuAndMemory>| amounts?.cpu;
    let cpu = cpu(requests).or_else(|| cpu(limits))?;
    let whole = u32::try_from(thousandths(&cpu)? / 1000).unwrap_or(u32::MAX);
    Some(CpuDemand {
        cpus: whole.saturating_add(1),
        by: format!("variant {} requests {cpu} CPU", variant.name),
    })
}

/// The `RuntimeClasses` of the run's variants. Of one that does not exist, the variant is skipped.
fn used<'a>(
    spec: &BenchmarkRunSpec,
    config: &OperatorConfig,
    classes: &'a RuntimeClassLabels,
) -> BTreeMap<&'a String, &'a BTreeMap<String, String>> {
    let named = named(spec, config).into_iter();
    named
        .filter_map(|class| classes.get_key_value(&class))
        .collect()
}

/// The RuntimeClasses of the run's variants that do not exist.
fn missing_classes(
    spec: &BenchmarkRunSpec,
    config: &OperatorConfig,
    classes: &RuntimeClassLabels,
) -> Vec<String> {
    let mut named = named(spec, config);
    named.retain(|class| !classes.contains_key(class));
    named.into_iter().collect()
}

/// The RuntimeClasses that the run's variants name.
fn named(spec: &BenchmarkRunSpec, config: &OperatorConfig) -> BTreeSet<String> {
    let variants = spec.variants.iter();
    let named = variants.filter_map(|variant| subject::subject(variant, config)?.runtime_class);
    named.collect()
}

fn each(labels: &BTreeMap<String, String>, by: &str) -> impl Iterator<Item = LabelDemand> {
    let labels = labels.iter();
    labels.map(move |(key, value)| demand(key, vec![value.clone()], by))
}

fn demand(key: &str, values: Vec<String>, by: &str) -> LabelDemand {
    LabelDemand {
        key: key.into(),
        values,
        by: by.into(),
    }
}
