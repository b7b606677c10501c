//! A run's spec, the administrator's settings and the cluster's `RuntimeClasses` in, what the run
//! demands of its node out. Pure.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::variants::catalogue::definition_of;

use crate::config::OperatorConfig;
use crate::observed::{CpuDemand, Demands, LabelDemand};
use crate::subject;

/// Labels that every kubelet sets by itself.
const ARCHITECTURE: &str = "kubernetes.io/arch";
const OPERATING_SYSTEM: &str = "kubernetes.io/os";
/// Every run needs the probe's image, whatever its variants run.
const IMAGES: &str = "wasmbench's images: image.architectures of the chart";

/// The labels that each `RuntimeClass` requires of nodes (`scheduling.nodeSelector`), by its name.
pub type RuntimeClassLabels = BTreeMap<String, BTreeMap<String, String>>;

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
    }
}

/// A CPU for each thread of the variant that has most: threads that wait for each other's CPU would
/// not show how an engine scales. `None` where every variant has one.
pub fn cpus(spec: &BenchmarkRunSpec) -> Option<CpuDemand> {
    let threads = spec.variants.iter().rev().filter_map(|variant| {
        let settings = variant.engine.unwrap_or_default();
        let threads = definition_of(variant)?.threads(settings)?;
        Some((threads, &variant.name))
    });
    // The first of equals: the twin comes last.
    let most = threads.max_by_key(|(threads, _)| *threads);
    let (cpus, name) = most.filter(|(threads, _)| *threads > 1)?;
    Some(CpuDemand {
        cpus,
        by: format!("engine.threads of variant {name}"),
    })
}

/// The `RuntimeClasses` of the run's variants. Of one that does not exist, the variant is skipped.
fn used<'a>(
    spec: &BenchmarkRunSpec,
    config: &OperatorConfig,
    classes: &'a RuntimeClassLabels,
) -> BTreeMap<&'a String, &'a BTreeMap<String, String>> {
    let variants = spec.variants.iter();
    let named = variants.filter_map(|variant| subject::subject(variant, config)?.runtime_class);
    named
        .filter_map(|class| classes.get_key_value(&class))
        .collect()
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
