//! Whose turn it is, on which node, and when. All runs and nodes in, the turn of each waiting run out:
//! computed for all of them at once, once per change, because each run assumes of the others what
//! this says of them. Pure.
//!
//! In the order of their turns ([`order`]), each waiting run takes the node that is free first of those
//! that take its pods ([`forecast`]). What is free now may be claimed now.

mod forecast;
mod order;

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::{SignedDuration, Timestamp};

use crate::observed::{
    Candidate, Expected, ObservedLease, ObservedNode, ObservedRun, Outlook, Turn,
};
use crate::queue::forecast::{Forecast, Start};
use crate::queue::order::Order;

/// How many nodes a run may choose from: the first is taken unless something has been left on it.
const CHOICE: usize = 4;
/// How many claims on gone nodes a run removes when it takes its own: the rest can wait for others.
const FORGOTTEN: usize = 20;

/// Everything that turns depend on.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// Every run that exists.
    pub runs: Vec<ObservedRun>,
    /// All nodes.
    pub nodes: Vec<ObservedNode>,
    /// All claims on nodes.
    pub leases: Vec<ObservedLease>,
    /// When a run of each namespace last released a node.
    pub served: BTreeMap<String, Timestamp>,
}

/// What the queue decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// The turn of each waiting run, by its uid.
    pub of: HashMap<String, Turn>,
    /// Claims of nobody on nodes that are gone.
    pub gone: Vec<ObservedLease>,
}

/// The turns of all waiting runs at `now`.
pub fn turns(cluster: &Cluster, now: Timestamp) -> Turns {
    let order = Order::new(cluster);
    let mut nodes: Vec<&ObservedNode> = cluster.nodes.iter().collect();
    nodes.sort_by(|one, other| one.name.cmp(&other.name));
    let held = nodes.iter().map(|node| order.holder(&node.name));
    let free_in = held.map(|holder| holder.map_or(0, |run| run.seconds.max(1)));
    let mut forecast = Forecast::new(nodes.clone(), free_in.collect());
    let leases = cluster.leases.iter();
    let leases = leases.map(|lease| (lease.node.as_str(), lease)).collect();
    let shown = Shown {
        order: &order,
        nodes: &nodes,
        leases,
        now,
    };
    let waiting = order.waiting(&mut forecast);
    let turns = waiting.into_iter().map(|run| {
        let (place, start) = forecast.place(run);
        let outlook = shown.outlook(run, place, start);
        (run.uid.clone(), Turn { place, outlook })
    });
    Turns {
        of: turns.collect(),
        gone: of_deleted_nodes(cluster),
    }
}

/// What turns a forecast into words and times.
struct Shown<'a> {
    order: &'a Order<'a>,
    nodes: &'a [&'a ObservedNode],
    leases: HashMap<&'a str, &'a ObservedLease>,
    now: Timestamp,
}

impl Shown<'_> {
    fn outlook(&self, run: &ObservedRun, place: u32, start: Start) -> Outlook {
        match start {
            Start::Now(free) => Outlook::Free(free.into_iter().map(|at| self.free(at)).collect()),
            Start::In { node, seconds } => {
                let name = &self.nodes[node].name;
                let holder = self.order.holder(name).filter(|_| place == 1);
                Outlook::Later(Some(Expected {
                    node: name.clone(),
                    holder: holder.map(|holder| holder.name.clone()),
                    begins: later(self.now, seconds),
                    ends: later(self.now, seconds.saturating_add(run.seconds)),
                    missing_classes: run.demands.missing_classes.clone(),
                }))
            }
            Start::Unavailable(message) => Outlook::Unavailable(message),
            Start::Unknown => Outlook::Later(None),
            Start::Unmatched(message) => Outlook::Unmatched(message),
        }
    }

    fn free(&self, node: usize) -> Candidate {
        let node = self.nodes[node].name.clone();
        let lease = self.leases.get(node.as_str()).map(|lease| (*lease).clone());
        Candidate { node, lease }
    }
}

fn later(now: Timestamp, seconds: u64) -> Timestamp {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    now.saturating_add(SignedDuration::from_secs(seconds))
        .unwrap_or(Timestamp::MAX)
}

/// Claims on nodes that are gone. One that still has a holder is released first.
fn of_deleted_nodes(cluster: &Cluster) -> Vec<ObservedLease> {
    let there: HashSet<&str> = cluster.nodes.iter().map(|node| &*node.name).collect();
    let is_gone = |lease: &&ObservedLease| !there.contains(&*lease.node);
    let leases = cluster.leases.iter().filter(|lease| lease.holder.is_none());
    leases.filter(is_gone).take(FORGOTTEN).cloned().collect()
}
