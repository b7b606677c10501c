//! Which node a run measures on. One run holds a node at a time, through a Lease; the others queue.
//! The claim is held for the whole run: a block interleaved with another run's blocks would not be
//! a block.

use crate::observed::{
    CpuDemand, Demands, LabelDemand, LeaseSeen, NodeSeen, Observed, Occupant, RunSeen,
};
use crate::plan::fit::{Obstacle, carries, has, meets, obstacle, takes};
use crate::plan::occupied;
use crate::plan::queue::Queue;
use crate::validate::ValidatedRun;

/// How many nodes a message names.
const NAMED: usize = 3;
/// How many claims on gone nodes a run removes when it takes its own: the rest can wait for others.
const FORGOTTEN: usize = 20;

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It holds this node.
    Held(String),
    /// It holds this node, which takes no pods of it for now.
    Interrupted {
        /// The node.
        node: String,
        /// Why.
        obstacle: Obstacle,
    },
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
    /// The nodes that meet its demands take no pods for now, and no event announces when one does.
    Unavailable {
        /// Which ones and why, for people.
        message: String,
        /// Whether such a node is left for it once they all do.
        is_next: bool,
    },
    /// No node meets its demands.
    Unmatched {
        /// What it demands, and what to do.
        message: String,
    },
}

/// Where `run` stands.
pub fn claim(run: &ValidatedRun, seen: &Observed) -> Claim {
    if let Some(node) = held(run, seen) {
        return claim_on_held(seen, node);
    }
    let mut matching: Vec<&NodeSeen> = seen.nodes.iter().collect();
    matching.retain(|node| meets(&seen.demands, node));
    matching.sort_by(|a, b| a.name.cmp(&b.name));
    if matching.is_empty() {
        let message = unmatched(seen);
        return Claim::Unmatched { message };
    }
    let queue = Queue::new(seen);
    let before = queue.before(&run.uid);
    let mut ready = matching.clone();
    ready.retain(|node| takes(&seen.demands, node));
    let Some(&first) = ready.first() else {
        return unavailable(&seen.demands, &matching, before);
    };
    let mut free: Vec<&NodeSeen> = seen.nodes.iter().collect();
    free.retain(|node| queue.holder(&node.name).is_none());
    free.sort_by(|a, b| a.name.cmp(&b.name));
    // In the order of their turns, each run takes the first node that suits it: every run assumes
    // this of the others.
    for other in before {
        if free.is_empty() {
            break;
        }
        if let Some(taken) = free.iter().position(|node| takes(&other.demands, node)) {
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

fn claim_on_held(seen: &Observed, name: String) -> Claim {
    let Some(node) = seen.nodes.iter().find(|node| node.name == name) else {
        let message = format!(
            "node {name}, on which this run measures, is gone: bring it back, or delete the run and \
             create a new one"
        );
        return Claim::Unmatched { message };
    };
    match obstacle(&seen.demands, node) {
        None => Claim::Held(name),
        Some(obstacle) => Claim::Interrupted {
            node: name,
            obstacle,
        },
    }
}

/// Claims on nodes that are gone. One that still has a holder is released first.
pub fn of_deleted_nodes(seen: &Observed) -> impl Iterator<Item = &LeaseSeen> {
    let is_gone = |lease: &&LeaseSeen| seen.nodes.iter().all(|node| node.name != lease.node);
    let leases = seen.leases.iter().filter(|lease| lease.holder.is_none());
    leases.filter(is_gone).take(FORGOTTEN)
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
    let same = before.iter().filter(|run| takes(&run.demands, node));
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

fn unavailable(demands: &Demands, matching: &[&NodeSeen], before: &[&RunSeen]) -> Claim {
    let words: Vec<String> = matching
        .iter()
        .filter_map(|node| {
            let obstacle = obstacle(demands, node)?;
            Some(format!("node {} {obstacle}", node.name))
        })
        .take(NAMED)
        .collect();
    let more = match matching.len() - words.len() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let wants_one = |other: &&&RunSeen| matching.iter().any(|node| meets(&other.demands, node));
    Claim::Unavailable {
        message: format!("waiting: {}{more}", words.join("; ")),
        is_next: before.iter().filter(wants_one).count() < matching.len(),
    }
}

/// Why no node meets the run's demands, and what to do.
pub fn unmatched(seen: &Observed) -> String {
    if let Some(name) = &seen.demands.node {
        return format!(
            "node {name}, on which this run began, is gone or lacks a label that the run demands: \
             bring it back, or delete the run and create a new one"
        );
    }
    let too_few = |demand: &&CpuDemand| !seen.nodes.iter().any(|node| has(node, demand));
    if let Some(CpuDemand { cpus, by }) = seen.demands.cpus.as_ref().filter(too_few) {
        return format!(
            "no node has {cpus} CPUs ({by}): add one that has, or create a run that needs fewer"
        );
    }
    let is_missing = |label: &&LabelDemand| seen.nodes.iter().all(|node| !carries(node, label));
    let demanded = &seen.demands.labels;
    let missing: Vec<&LabelDemand> = demanded.iter().filter(is_missing).collect();
    let (no_node, labels, cpus) = if missing.is_empty() {
        let cpus = seen.demands.cpus.as_ref();
        (
            "no node has all of the labels",
            demanded.iter().collect(),
            cpus,
        )
    } else {
        ("no node has the labels", missing, None)
    };
    let cpus = cpus.map_or_else(String::new, |CpuDemand { cpus, by }| {
        format!(" and {cpus} CPUs ({by})")
    });
    let words: Vec<String> = labels
        .iter()
        .map(|label| {
            let LabelDemand { key, values, by } = label;
            format!("{key}={} ({by})", values.join("|"))
        })
        .collect();
    format!(
        "{no_node} {}{cpus}: label a node, or create a run with another spec.placement",
        words.join(", ")
    )
}
