//! In which order runs measure. Namespaces take turns, so that nobody has to wait for all of somebody
//! else's runs; within a namespace, older runs come first. Pure.

use std::collections::{BTreeMap, HashMap};

use jiff::Timestamp;

use super::Cluster;
use crate::observed::{RunSeen, Standing};

/// The runs that hold nodes, and those that wait for one.
pub struct Order<'a> {
    holders: BTreeMap<&'a str, &'a RunSeen>,
    /// In the order of their turns, the next one first.
    pub waiting: Vec<&'a RunSeen>,
}

impl<'a> Order<'a> {
    /// The order for all nodes.
    pub fn new(cluster: &'a Cluster) -> Self {
        let by_uid: HashMap<&str, &RunSeen> = cluster
            .runs
            .iter()
            .filter(|run| run.standing != Standing::Ended)
            .map(|run| (run.uid.as_str(), run))
            .collect();
        let holders: BTreeMap<&str, &RunSeen> = cluster
            .leases
            .iter()
            .filter_map(|lease| Some((&*lease.node, lease.holder.as_deref()?)))
            .filter_map(|(node, uid)| Some((node, *by_uid.get(uid)?)))
            .collect();
        let waiting = in_turn(cluster, &holders);
        Self { holders, waiting }
    }

    /// The run that holds `node`. A suspended run releases its claim itself, once nothing of it can
    /// put load on the node; the claim of a deleted or finished run does not count.
    pub fn holder(&self, node: &str) -> Option<&'a RunSeen> {
        self.holders.get(node).copied()
    }
}

/// The waiting runs, the next one first. What counts is how many runs of a run's namespace are
/// measuring or come before it, then when the namespace was last served, then the run's age.
fn in_turn<'a>(cluster: &'a Cluster, holders: &BTreeMap<&str, &'a RunSeen>) -> Vec<&'a RunSeen> {
    let holding: BTreeMap<&str, &RunSeen> = holders
        .values()
        .map(|run| (run.uid.as_str(), *run))
        .collect();
    let mut ahead: HashMap<&str, usize> = HashMap::new();
    for run in holding.values() {
        *ahead.entry(run.namespace()).or_default() += 1;
    }
    let runs = cluster.runs.iter();
    let waits = |run: &&RunSeen| {
        run.standing == Standing::Active && !holding.contains_key(run.uid.as_str())
    };
    let mut waiting: Vec<&RunSeen> = runs.filter(waits).collect();
    waiting.sort_by_key(|run| age(run));
    let mut turns: Vec<_> = waiting
        .into_iter()
        .map(|run| {
            let ahead = ahead.entry(run.namespace()).or_default();
            let turn = (*ahead, cluster.served.get(run.namespace()), age(run));
            *ahead += 1;
            (turn, run)
        })
        .collect();
    turns.sort_by_key(|(turn, _)| *turn);
    turns.into_iter().map(|(_, run)| run).collect()
}

fn age(run: &RunSeen) -> (Timestamp, &str) {
    (run.created, &run.uid)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;
    use crate::observed::{Demands, LeaseSeen};

    /// When something happened: few moments, so that many things happen at once.
    fn moment() -> impl Strategy<Value = Timestamp> {
        (0..4_i64).prop_map(|second| Timestamp::UNIX_EPOCH + SignedDuration::from_secs(second))
    }

    fn standing() -> impl Strategy<Value = Standing> {
        prop_oneof![
            3 => Just(Standing::Active),
            1 => Just(Standing::Suspended),
            1 => Just(Standing::Ended),
        ]
    }

    prop_compose! {
        fn worlds()(
            runs in prop::collection::vec((0..3_u8, moment(), standing()), 0..12),
            holders in prop::collection::vec(prop::option::of(0..15_usize), 0..4),
            served in prop::collection::btree_map(0..3_u8, moment(), 0..3),
        ) -> Cluster {
            let run = |(number, (namespace, created, standing))| RunSeen {
                uid: format!("uid-{number}"),
                name: format!("team-{namespace}/run-{number}"),
                created,
                standing,
                demands: Demands::default(),
                seconds: 60,
            };
            let lease = |(node, holder): (usize, Option<usize>)| LeaseSeen {
                node: format!("node-{node}"),
                holder: holder.map(|number| format!("uid-{number}")),
                resource_version: None,
                scaled: None,
            };
            let served = served.into_iter();
            Cluster {
                runs: runs.into_iter().enumerate().map(run).collect(),
                leases: holders.into_iter().enumerate().map(lease).collect(),
                served: served.map(|(one, at)| (format!("team-{one}"), at)).collect(),
                nodes: vec![],
            }
        }
    }

    fn holds(seen: &Cluster, run: &RunSeen) -> bool {
        let its = |lease: &LeaseSeen| lease.holder.as_deref() == Some(&run.uid);
        run.standing != Standing::Ended && seen.leases.iter().any(its)
    }

    /// A run's turn as the rule has it: it looks at each of the others.
    fn turn<'a>(
        seen: &'a Cluster,
        run: &'a RunSeen,
    ) -> (usize, Option<&'a Timestamp>, (Timestamp, &'a str)) {
        let is_ahead = |other: &&RunSeen| {
            other.uid != run.uid
                && other.namespace() == run.namespace()
                && (holds(seen, other)
                    || (other.standing == Standing::Active && age(other) < age(run)))
        };
        let ahead = seen.runs.iter().filter(is_ahead).count();
        (ahead, seen.served.get(run.namespace()), age(run))
    }

    proptest! {
        #[test]
        fn runs_wait_in_the_order_of_the_rule(seen in worlds()) {
            let waits = |run: &&RunSeen| run.standing == Standing::Active && !holds(&seen, run);
            let mut waiting: Vec<&RunSeen> = seen.runs.iter().filter(waits).collect();
            waiting.sort_by(|one, other| turn(&seen, one).cmp(&turn(&seen, other)));
            prop_assert_eq!(Order::new(&seen).waiting, waiting);
        }

        #[test]
        fn a_node_is_held_by_the_run_of_its_lease_unless_that_has_ended(seen in worlds()) {
            let queue = Order::new(&seen);
            for lease in &seen.leases {
                let mut runs = seen.runs.iter();
                let holder = runs.find(|run| {
                    lease.holder.as_deref() == Some(&run.uid) && run.standing != Standing::Ended
                });
                prop_assert_eq!(queue.holder(&lease.node), holder);
            }
        }
    }
}
