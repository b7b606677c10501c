//! Which node a run measures on. One run holds a node at a time, through a Lease; the others queue
//! ([`crate::queue`]). The claim is held for the whole run: a block interleaved with another run's blocks
//! would not be a block.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::fit::{self, Obstacle, meets, obstacle};
use crate::observed::{Candidate, Observed, ObservedLease, Occupant, Outlook};
use crate::plan::{occupied, pods_of};
use crate::scale::Scaled;
use crate::validate::ValidatedRun;

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
        existing: Option<ObservedLease>,
    },
    /// It waits for the queue, which wakes it.
    Queue {
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
    /// It is this run's turn, but the queue does not know yet what has happened to the node.
    Unavailable {
        /// What, for people.
        message: String,
    },
    /// No node meets its demands.
    Unmatched {
        /// What it demands, and what to do.
        message: String,
    },
}

/// Where `run` stands.
pub fn claim(run: &ValidatedRun, observed: &Observed, now: Timestamp) -> Claim {
    if let Some(node) = held(run, observed) {
        return claim_on_held(observed, node);
    }
    let queue = |message: String| Claim::Queue { message };
    let Some(turn) = &observed.turn else {
        return queue("waiting for its place in the queue for a node".to_owned());
    };
    match &turn.outlook {
        Outlook::Free(_) => take(observed),
        Outlook::Later(_) => queue(turn.message(now)),
        Outlook::Unavailable(message) => queue(message.clone()),
        Outlook::Unmatched(message) => Claim::Unmatched {
            message: message.clone(),
        },
    }
}

/// The nodes that a plan for the run with this uid looks at: the one that it holds; or else those of what
/// is left of it, and the one that it may take.
pub fn relevant_nodes(run_uid: &str, observed: &Observed) -> BTreeSet<String> {
    if let Some(node) = held_by(run_uid, observed) {
        return [node].into();
    }
    let probes = observed
        .probes
        .iter()
        .filter_map(|probe| probe.pod.as_ref());
    let left = pods_of(observed).chain(probes);
    let left = left.filter_map(|pod| pod.node.clone());
    let taken = chosen(observed).map(|candidate| candidate.node.clone());
    left.chain(taken).collect()
}

/// The node that it is the run's turn to take: the first on which nothing of other runs is.
fn chosen(observed: &Observed) -> Option<&Candidate> {
    let Outlook::Free(free) = &observed.turn.as_ref()?.outlook else {
        return None;
    };
    let is_empty = |one: &&Candidate| {
        noted_on(one).is_none() && occupied::on(observed, &one.node).next().is_none()
    };
    free.iter().find(is_empty).or_else(|| free.first())
}

/// What the last holder of a node has scaled up and not brought back yet: whoever sweeps after that run
/// does so first.
fn noted_on(candidate: &Candidate) -> Option<&Scaled> {
    candidate.lease.as_ref()?.scaled.as_deref()
}

/// Takes the chosen node, as it is now: the queue may be behind.
fn take(observed: &Observed) -> Claim {
    let unavailable = |message: String| Claim::Unavailable { message };
    let Some(chosen) = chosen(observed) else {
        return unavailable("waiting for a node".to_owned());
    };
    let Candidate { node, lease } = chosen;
    if let Some(Scaled { target, .. }) = noted_on(chosen) {
        return unavailable(format!(
            "waiting: on node {node}, {target} of an earlier run is on its way back to 0 replicas"
        ));
    }
    let mut nodes = observed.nodes.iter();
    let found = nodes.find(|found| found.name == *node && meets(&observed.demands, found));
    let Some(found) = found else {
        return unavailable(format!("waiting: node {node} has just changed"));
    };
    if let Some(obstacle) = obstacle(&observed.demands, found) {
        return unavailable(format!("waiting: node {node} {obstacle}"));
    }
    let occupants: Vec<Occupant> = occupied::on(observed, node).cloned().collect();
    let node = node.clone();
    if !occupants.is_empty() {
        return Claim::Occupied { node, occupants };
    }
    let existing = lease.clone();
    Claim::Take { node, existing }
}

fn claim_on_held(observed: &Observed, name: String) -> Claim {
    let Some(node) = observed.nodes.iter().find(|node| node.name == name) else {
        let message = format!(
            "node {name}, on which this run measures, is gone: bring it back, or delete the run and \
             create a new one"
        );
        return Claim::Unmatched { message };
    };
    match obstacle(&observed.demands, node) {
        None => Claim::Held(name),
        Some(obstacle) => Claim::Interrupted {
            node: name,
            obstacle,
        },
    }
}

/// The node that `run` holds.
pub fn held(run: &ValidatedRun, observed: &Observed) -> Option<String> {
    held_by(&run.uid, observed)
}

fn held_by(run_uid: &str, observed: &Observed) -> Option<String> {
    let mine = |lease: &&ObservedLease| lease.holder.as_deref() == Some(run_uid);
    let mut leases = observed.leases.iter();
    leases.find(mine).map(|lease| lease.node.clone())
}

/// Why no node meets the run's demands, and what to do. One that has waited for too long ends with this,
/// even if a node has joined meanwhile.
pub fn unmatched(observed: &Observed) -> String {
    if let Some(Outlook::Unmatched(message)) = observed.turn.as_ref().map(|turn| &turn.outlook) {
        return message.clone();
    }
    fit::unmatched(
        &observed.demands,
        &observed.nodes.iter().collect::<Vec<_>>(),
    )
}
