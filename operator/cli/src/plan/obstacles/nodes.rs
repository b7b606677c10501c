//! Whether a node meets what a run demands, and has the handlers that its variants need. Pure.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::Variant;
use wasmbench_core::demands::{RuntimeClassLabels, TemplateLabels, demands, with_templates};
use wasmbench_core::fit;
use wasmbench_core::observed::{self, Demands};
use wasmbench_core::subject::subject;

use crate::check::observed::{ObservedNode, ObservedRuntimeClass};
use crate::check::presets::named;
use crate::plan::obstacles::ObservedCluster;

/// What the run demands of its node, as the operator works it out.
fn demanded(spec: &BenchmarkRunSpec, cluster: &ObservedCluster) -> Demands {
    let labels = |(name, class): (&String, &ObservedRuntimeClass)| {
        (name.clone(), class.node_selector.clone())
    };
    let classes = cluster.observed.runtime_classes.iter().flatten();
    let classes: RuntimeClassLabels = classes.map(labels).collect();
    let templates: TemplateLabels = cluster
        .scaled
        .iter()
        .filter_map(|(target, found)| {
            let object = found.object.as_ref().ok()?;
            Some((target.clone(), object.node_selector.clone()))
        })
        .collect();
    let demanded = demands(spec, &cluster.config(), &classes, None);
    let mut demanded = with_templates(demanded, &templates);
    // Which architectures the images have is not known without the operator's settings.
    demanded.labels.retain(|label| !label.values.is_empty());
    demanded
}

/// Why the run can be measured on no node; `None` if it can, or if the user may not see nodes.
pub(super) fn unmatched(spec: &BenchmarkRunSpec, cluster: &ObservedCluster) -> Option<String> {
    let demanded = demanded(spec, cluster);
    let nodes = cluster.observed.nodes.as_ref().ok()?;
    let nodes: Vec<observed::ObservedNode> = nodes.iter().map(ObservedNode::observed).collect();
    if nodes.iter().any(|node| fit::meets(&demanded, node)) {
        return None;
    }
    let nodes: Vec<&observed::ObservedNode> = nodes.iter().collect();
    let why = fit::unmatched(&demanded, &nodes);
    Some(format!("the run fails after ten minutes: {why}"))
}

/// What is wrong with the handler of a variant's `RuntimeClass`.
pub(super) enum Handler {
    /// No node on which the run can be measured has it: why.
    Nowhere(String),
    /// Some of these nodes do not have it: which.
    NotEverywhere(String),
    /// Some of them do not report what they have: which.
    NotReported(String),
}

/// What is wrong with the handler that the variant needs; `None` if nothing is, or it needs none.
pub(super) fn handler(
    variant: &Variant,
    spec: &BenchmarkRunSpec,
    cluster: &ObservedCluster,
) -> Option<Handler> {
    let class = subject(variant, &cluster.config())?.runtime_class?;
    let handler = &cluster
        .observed
        .runtime_classes
        .as_ref()
        .ok()?
        .get(&class)?
        .handler;
    let demanded = demanded(spec, cluster);
    let nodes = cluster.observed.nodes.as_ref().ok()?.iter();
    let nodes: Vec<&ObservedNode> = nodes
        .filter(|node| fit::meets(&demanded, &node.observed()))
        .collect();
    let names = |which: fn(&ObservedNode, &str) -> bool| -> Vec<&str> {
        let found = nodes.iter().filter(|node| which(node, handler));
        found.map(|node| node.name.as_str()).collect()
    };
    let missing = names(ObservedNode::lacks);
    let silent = names(|node, _| node.handlers.is_none());
    let name = &variant.name;
    if !missing.is_empty() && missing.len() == nodes.len() {
        let which = named(&missing);
        return Some(Handler::Nowhere(format!(
            "no handler '{handler}' of RuntimeClass {class} on {which}; install the shim there, or choose other nodes by \
             spec.placement.nodeSelector"
        )));
    }
    if !missing.is_empty() {
        let which = named(&missing);
        return Some(Handler::NotEverywhere(format!(
            "{name} is not measured if the run gets one of these nodes, which have no handler '{handler}': {which}; keep it off \
             them by spec.placement.nodeSelector"
        )));
    }
    (!silent.is_empty()).then(|| {
        let which = named(&silent);
        Handler::NotReported(format!(
            "whether {name} can be measured: {which} does not report its handlers"
        ))
    })
}
