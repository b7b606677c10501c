//! Whether a node meets a run's demands, and what keeps the run's pods off a node that does. A node
//! without a label will hardly get it; a taint, a cordon or a node that is not ready passes. Pure.

use std::fmt;

use wasmbench_api::run::{TaintEffect, Toleration, TolerationOperator};

use crate::observed::{CpuDemand, Demands, LabelDemand, ObservedNode, ObservedTaint};

/// Taints by which a kubelet keeps pods off a node that runs short of something.
const PRESSURE: [&str; 3] = [
    "node.kubernetes.io/disk-pressure",
    "node.kubernetes.io/memory-pressure",
    "node.kubernetes.io/pid-pressure",
];

/// How many nodes a message names.
const NAMED: usize = 3;

/// What keeps a run's pods off a node for now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The kubelet does not report that the node is ready.
    NotReady,
    /// Somebody cordoned it.
    Cordoned,
    /// It runs short of something, possibly because of what the run does on it.
    Pressure(ObservedTaint),
    /// It has another taint that the run does not tolerate.
    Taint(ObservedTaint),
}

/// What follows the name of the node, with the remedy.
impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotReady => write!(f, "is not ready (see kubectl describe node)"),
            Self::Cordoned => write!(f, "is cordoned (kubectl uncordon)"),
            Self::Pressure(taint) => write!(f, "has the taint {} (free what it names)", taint.key),
            Self::Taint(ObservedTaint { key, value, effect }) => {
                let equals = if value.is_empty() { "" } else { "=" };
                write!(
                    f,
                    "has the taint {key}{equals}{value}:{effect} (remove it, or tolerate it in \
                     spec.placement.tolerations of a new run)"
                )
            }
        }
    }
}

/// Whether the node is one on which the run may measure at all.
pub fn meets(demands: &Demands, node: &ObservedNode) -> bool {
    let is_bound_elsewhere = demands.node.as_ref().is_some_and(|own| *own != node.name);
    !is_bound_elsewhere
        && demands.labels.iter().all(|label| carries(node, label))
        && demands.cpus.as_ref().is_none_or(|cpus| has(node, cpus))
}

/// Whether the node carries the label.
pub fn carries(node: &ObservedNode, label: &LabelDemand) -> bool {
    let value = node.labels.get(&label.key);
    value.is_some_and(|value| label.values.contains(value))
}

/// Whether the node has that many CPUs. One that does not report them may.
pub fn has(node: &ObservedNode, demand: &CpuDemand) -> bool {
    node.cpus.is_none_or(|cpus| cpus >= demand.cpus)
}

/// What keeps the run's pods off the node now; `None` if it takes them.
pub fn obstacle(demands: &Demands, node: &ObservedNode) -> Option<Obstacle> {
    if !node.ready {
        return Some(Obstacle::NotReady);
    }
    if node.cordoned {
        return Some(Obstacle::Cordoned);
    }
    let is_tolerated =
        |taint: &&ObservedTaint| demands.tolerations.iter().any(|t| tolerates(t, taint));
    let taint = node
        .taints
        .iter()
        .find(|taint| !is_tolerated(taint))?
        .clone();
    Some(if PRESSURE.contains(&&*taint.key) {
        Obstacle::Pressure(taint)
    } else {
        Obstacle::Taint(taint)
    })
}

/// Whether the node takes pods of the run now.
pub fn takes(demands: &Demands, node: &ObservedNode) -> bool {
    meets(demands, node) && obstacle(demands, node).is_none()
}

/// Why none of the `nodes` meets the demands, and what to do.
pub fn unmatched(demands: &Demands, nodes: &[&ObservedNode]) -> String {
    if let Some(name) = &demands.node {
        return format!(
            "node {name}, on which this run began, is gone or lacks a label that the run demands: \
             bring it back, or delete the run and create a new one"
        );
    }
    let too_few = |demand: &&CpuDemand| !nodes.iter().any(|node| has(node, demand));
    if let Some(CpuDemand { cpus, by }) = demands.cpus.as_ref().filter(too_few) {
        return format!(
            "no node has {cpus} CPUs ({by}): add one that has, or create a run that needs fewer"
        );
    }
    let is_missing = |label: &&LabelDemand| nodes.iter().all(|node| !carries(node, label));
    let missing: Vec<&LabelDemand> = demands.labels.iter().filter(is_missing).collect();
    let (no_node, labels, cpus) = if missing.is_empty() {
        let cpus = demands.cpus.as_ref();
        (
            "no node has all of the labels",
            demands.labels.iter().collect(),
            cpus,
        )
    } else {
        ("no node has the labels", missing, None)
    };
    let cpus = cpus.map_or_else(String::new, |CpuDemand { cpus, by }| {
        format!(" and {cpus} CPUs ({by})")
    });
    let texts: Vec<String> = labels
        .iter()
        .map(|label| {
            let LabelDemand { key, values, by } = label;
            format!("{key}={} ({by})", values.join("|"))
        })
        .collect();
    format!(
        "{no_node} {}{cpus}: label a node, or create a run with another spec.placement",
        texts.join(", ")
    )
}

/// What keeps the run's pods off all of the `matching` nodes, for people.
pub fn obstacles(demands: &Demands, matching: &[&ObservedNode]) -> String {
    let texts: Vec<String> = matching
        .iter()
        .filter_map(|node| Some(format!("node {} {}", node.name, obstacle(demands, node)?)))
        .take(NAMED)
        .collect();
    let more = match matching.len() - texts.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    format!("waiting: {}{more}", texts.join("; "))
}

fn tolerates(toleration: &Toleration, taint: &ObservedTaint) -> bool {
    let effect = toleration.effect.is_none_or(|effect: TaintEffect| {
        let effect: &'static str = effect.into();
        effect == taint.effect
    });
    let key = toleration.key.as_ref().is_none_or(|key| *key == taint.key);
    let value = match toleration.operator.unwrap_or(TolerationOperator::Equal) {
        TolerationOperator::Exists => true,
        // Without a key, `Equal` tolerates nothing, as for pods.
        TolerationOperator::Equal => {
            toleration.key.is_some()
                && toleration.value.as_deref().unwrap_or_default() == taint.value
        }
    };
    effect && key && value
}
