//! Which node a run measures on. One run holds a node at a time, through a Lease; the others queue.
//! The claim is held for the whole run: a block interleaved with another run's blocks would not be
//! a block.

use std::collections::BTreeMap;

use wasmbench_api::run::{Placement, TaintEffect, Toleration, TolerationOperator};

use crate::observed::{LeaseSeen, NodeSeen, Observed, Occupant, RunSeen, TaintSeen};
use crate::plan::occupied;
use crate::plan::queue::Queue;
use crate::validate::ValidatedRun;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It holds this node.
    Held(String),
    /// It may take this node now.
    Take {
        /// The node.
        node: String,
        /// The existing Lease, if any.
        existing: Option<LeaseSeen>,
    },
    /// Other runs come first.
    Queue {
        /// For this node.
        node: String,
        /// Why, for people.
        message: String,
    },
    /// It is this run's turn, but something of other runs is still on the node.
    Occupied {
        /// The node.
        node: String,
        /// What is there.
        occupants: Vec<Occupant>,
    },
    /// The nodes that fit are not ready, and no event announces when one is.
    NotReady {
        /// Which ones, for people.
        message: String,
    },
    /// No node fits.
    None {
        /// What was requested, and what to do.
        message: String,
    },
}

/// Where `run` stands.
pub fn claim(run: &ValidatedRun, seen: &Observed) -> Claim {
    if let Some(node) = held(run, seen) {
        return Claim::Held(node);
    }
    let placement = run.spec.placement.clone().unwrap_or_default();
    let fitting: Vec<&NodeSeen> = seen
        .nodes
        .iter()
        .filter(|node| has(&seen.node_selector, node) && fits(&placement, node))
        // An interrupted run continues on the node where it began: one run measures one node.
        .filter(|node| {
            seen.recorded_node
                .as_ref()
                .is_none_or(|name| *name == node.name)
        })
        .collect();
    if fitting.is_empty() {
        return Claim::None {
            message: no_node(&placement, seen),
        };
    }
    let mut ready: Vec<&NodeSeen> = fitting.iter().copied().filter(|node| node.ready).collect();
    ready.sort_by(|a, b| a.name.cmp(&b.name));
    let Some(&first) = ready.first() else {
        let names: Vec<&str> = fitting.iter().map(|node| node.name.as_str()).collect();
        let message = format!(
            "waiting for a node that fits: {} is not ready or cordoned (kubectl get nodes)",
            names.join(", ")
        );
        return Claim::NotReady { message };
    };
    let queue = Queue::of(seen);
    let before = queue.before(&run.uid);
    let offered = seen.nodes.iter();
    let offered = offered.filter(|node| node.ready && has(&seen.node_selector, node));
    let mut free: Vec<&NodeSeen> = offered.collect();
    free.retain(|node| queue.holder(&node.name).is_none());
    free.sort_by(|a, b| a.name.cmp(&b.name));
    // In the order of their turns, each run takes the first node that suits it: every run assumes
    // this of the others.
    for other in before {
        if free.is_empty() {
            break;
        }
        if let Some(taken) = free.iter().position(|node| fits(&other.placement, node)) {
            free.remove(taken);
        }
    }
    ready.retain(|node| free.contains(node));
    take(seen, &ready).unwrap_or_else(|| wait(queue.holder(&first.name), first, before))
}

/// Takes the first of the `free` nodes on which nothing of other runs is.
fn take(seen: &Observed, free: &[&NodeSeen]) -> Option<Claim> {
    let is_empty = |node: &&&NodeSeen| occupied::on(seen, &node.name).next().is_none();
    let Some(node) = free.iter().find(is_empty) else {
        let node = free.first()?.name.clone();
        let occupants = occupied::on(seen, &node).cloned().collect();
        return Some(Claim::Occupied { node, occupants });
    };
    let mut leases = seen.leases.iter();
    Some(Claim::Take {
        node: node.name.clone(),
        existing: leases.find(|lease| lease.node == node.name).cloned(),
    })
}

/// Whether `run` would take a node, as far as is known without a look at the pods of other runs.
pub fn may_take(run: &ValidatedRun, seen: &Observed) -> bool {
    !run.spec.suspend && matches!(claim(run, seen), Claim::Take { .. })
}

/// The node that `run` holds.
pub fn held(run: &ValidatedRun, seen: &Observed) -> Option<String> {
    let mine = |lease: &&LeaseSeen| lease.holder.as_deref() == Some(&run.uid);
    seen.leases
        .iter()
        .find(mine)
        .map(|lease| lease.node.clone())
}

fn wait(holder: Option<&RunSeen>, node: &NodeSeen, before: &[&RunSeen]) -> Claim {
    let same = before.iter().filter(|run| fits(&run.placement, node));
    let place = same.count() + usize::from(holder.is_some()) + 1;
    let who = match (holder, before.first()) {
        (Some(holder), _) => format!("{} is measuring on", holder.name),
        (None, Some(next)) => format!("{} takes next", next.name),
        (None, None) => "another run takes next".to_owned(),
    };
    let message = format!(
        "waiting for node {}, which {who}: number {place} in the queue",
        node.name
    );
    Claim::Queue {
        node: node.name.clone(),
        message,
    }
}

fn no_node(placement: &Placement, seen: &Observed) -> String {
    if let Some(name) = &seen.recorded_node {
        return format!(
            "node {name}, on which this run began, is gone or fits no longer: bring it back, or \
             delete the run and create a new one"
        );
    }
    let wanted: Vec<String> = placement
        .node_selector
        .iter()
        .chain(&seen.node_selector)
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    if wanted.is_empty() {
        return "every node has a taint that the run does not tolerate: add \
                spec.placement.tolerations to a new run"
            .to_owned();
    }
    let whose = if seen.node_selector.is_empty() {
        ""
    } else {
        " (the administrator's limits.nodeSelector included)"
    };
    format!(
        "no node has the labels {}{whose} with taints that the run tolerates: label a node and create the \
         run again, or one with another spec.placement",
        wanted.join(",")
    )
}

fn fits(placement: &Placement, node: &NodeSeen) -> bool {
    let tolerated = |taint: &TaintSeen| placement.tolerations.iter().any(|t| tolerates(t, taint));
    has(&placement.node_selector, node) && node.taints.iter().all(tolerated)
}

/// Whether a node has all these labels.
fn has(labels: &BTreeMap<String, String>, node: &NodeSeen) -> bool {
    let mut labels = labels.iter();
    labels.all(|(key, value)| node.labels.get(key) == Some(value))
}

fn tolerates(toleration: &Toleration, taint: &TaintSeen) -> bool {
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
