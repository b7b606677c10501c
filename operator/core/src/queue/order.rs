//! In which order runs measure. Namespaces take turns on each node, so that nobody has to wait for all of
//! somebody else's runs, nor because of own runs on other nodes; within a namespace, older runs come
//! first. Pure.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::Timestamp;

use super::Cluster;
use super::forecast::Forecast;
use crate::observed::{ObservedRun, Standing};

/// The runs that hold nodes, and those that wait for one.
pub struct Order<'a> {
    cluster: &'a Cluster,
    holders: BTreeMap<&'a str, &'a ObservedRun>,
}

impl<'a> Order<'a> {
    /// The order for all nodes.
    pub fn new(cluster: &'a Cluster) -> Self {
        let by_uid: HashMap<&str, &ObservedRun> = cluster
            .runs
            .iter()
            .filter(|run| run.standing != Standing::Ended)
            .map(|run| (run.uid.as_str(), run))
            .collect();
        let holders = cluster
            .leases
            .iter()
            .filter_map(|lease| Some((&*lease.node, lease.holder.as_deref()?)))
            .filter_map(|(node, uid)| Some((node, *by_uid.get(uid)?)))
            .collect();
        Self { cluster, holders }
    }

    /// The run that holds `node`. A suspended run releases its claim itself, once nothing of it can
    /// put load on the node; the claim of a deleted or finished run does not count.
    pub fn holder(&self, node: &str) -> Option<&'a ObservedRun> {
        self.holders.get(node).copied()
    }

    /// The waiting runs, the next one first. What counts is how many runs of a run's namespace hold a node
    /// for which it competes, or compete with it and come before it; then when the namespace was last
    /// served, then the run's age. None comes before an older one of its namespace with which it competes,
    /// however many others that one waits for: it could take each node first, again and again.
    pub fn waiting(&self, forecast: &mut Forecast<'a>) -> Vec<&'a ObservedRun> {
        let by_age = self.by_age().into_iter();
        let by_age: Vec<(usize, &'a ObservedRun)> = by_age
            .map(|run| (forecast.group_of(&run.demands), run))
            .collect();
        let forecast = &*forecast;
        // By namespace: how many come before the next run of each group.
        let mut ahead: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut turns = vec![];
        for (group, run) in by_age {
            let namespace = run.namespace();
            let ahead = ahead
                .entry(namespace)
                .or_insert_with(|| self.held_by(namespace, forecast));
            let own = ahead[group];
            for rival in forecast.rivals(group) {
                ahead[rival] = ahead[rival].max(own) + 1;
            }
            let served = self.cluster.served.get(namespace);
            turns.push(((own, served, age(run)), run));
        }
        turns.sort_by_key(|(turn, _)| *turn);
        turns.into_iter().map(|(_, run)| run).collect()
    }

    /// The waiting runs, the oldest first.
    fn by_age(&self) -> Vec<&'a ObservedRun> {
        let holding: HashSet<&str> = self.holders.values().map(|run| &*run.uid).collect();
        let runs = self.cluster.runs.iter();
        let waits =
            |run: &&ObservedRun| run.standing == Standing::Active && !holding.contains(&*run.uid);
        let mut waiting: Vec<&ObservedRun> = runs.filter(waits).collect();
        waiting.sort_by_key(|run| age(run));
        waiting
    }

    /// How many of the nodes for which the runs of each group compete this namespace holds.
    fn held_by(&self, namespace: &str, forecast: &Forecast<'_>) -> Vec<usize> {
        forecast.contested(|node| {
            let holder = self.holder(node);
            holder.is_some_and(|run| run.namespace() == namespace)
        })
    }
}

fn age(run: &ObservedRun) -> (Timestamp, &str) {
    (run.created, &run.uid)
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;
    use crate::fit::{meets, takes};
    use crate::observed::{Demands, LabelDemand, ObservedLease, ObservedNode};

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

    /// Demands for nodes of some of the classes 0 to 2, one bit each.
    fn demands() -> impl Strategy<Value = Demands> {
        (1..8_u8).prop_map(|classes| {
            let values = (0..3_u8).filter(|class| classes & (1_u8 << *class) != 0);
            let label = LabelDemand {
                key: "class".into(),
                values: values.map(|class| class.to_string()).collect(),
                by: "somebody".into(),
            };
            Demands {
                labels: vec![label],
                ..Demands::default()
            }
        })
    }

    prop_compose! {
        fn worlds()(
            runs in prop::collection::vec((0..3_u8, moment(), standing(), demands()), 0..12),
            nodes in prop::collection::vec((0..3_u8, prop::bool::weighted(0.7)), 0..5),
            holders in prop::collection::vec(prop::option::of(0..15_usize), 0..5),
            served in prop::collection::btree_map(0..3_u8, moment(), 0..3),
        ) -> Cluster {
            let run = |(number, (namespace, created, standing, demands))| ObservedRun {
                uid: format!("uid-{number}"),
                name: format!("team-{namespace}/run-{number}"),
                created,
                standing,
                demands,
                seconds: 60,
            };
            let node = |(number, (class, ready)): (usize, (u8, bool))| ObservedNode {
                name: format!("node-{number}"),
                labels: [("class".to_owned(), class.to_string())].into(),
                ready,
                ..ObservedNode::default()
            };
            let lease = |(node, holder): (usize, Option<usize>)| ObservedLease {
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
                nodes: nodes.into_iter().enumerate().map(node).collect(),
            }
        }
    }

    fn in_order(observed: &Cluster) -> Vec<&ObservedRun> {
        let nodes: Vec<&ObservedNode> = observed.nodes.iter().collect();
        let free_in = vec![0; nodes.len()];
        Order::new(observed).waiting(&mut Forecast::new(nodes, free_in))
    }

    fn holder<'a>(observed: &'a Cluster, node: &str) -> Option<&'a ObservedRun> {
        let lease = observed.leases.iter().find(|lease| lease.node == node)?;
        let mut runs = observed.runs.iter();
        runs.find(|run| {
            lease.holder.as_deref() == Some(&run.uid) && run.standing != Standing::Ended
        })
    }

    fn holds(observed: &Cluster, run: &ObservedRun) -> bool {
        let mut leases = observed.leases.iter();
        leases.any(|lease| holder(observed, &lease.node) == Some(run))
    }

    /// The nodes for which a run competes: those that take its pods now, or else those that would.
    fn contested<'a>(observed: &'a Cluster, run: &ObservedRun) -> Vec<&'a ObservedNode> {
        let mut found: Vec<&ObservedNode> = observed.nodes.iter().collect();
        found.retain(|node| meets(&run.demands, node));
        if found.iter().any(|node| takes(&run.demands, node)) {
            found.retain(|node| takes(&run.demands, node));
        }
        found
    }

    /// Whether both are of one namespace and compete for a node.
    fn compete(observed: &Cluster, one: &ObservedRun, other: &ObservedRun) -> bool {
        let others = contested(observed, other);
        let mut own = contested(observed, one).into_iter();
        one.namespace() == other.namespace() && own.any(|node| others.contains(&node))
    }

    /// The waiting runs as the rule has them: each looks at each of the older ones.
    fn by_the_rule(observed: &Cluster) -> Vec<&ObservedRun> {
        let waits = |run: &&ObservedRun| run.standing == Standing::Active && !holds(observed, run);
        let mut waiting: Vec<&ObservedRun> = observed.runs.iter().filter(waits).collect();
        waiting.sort_by_key(|run| age(run));
        let mut ranked: Vec<(usize, &ObservedRun)> = vec![];
        for run in waiting {
            let is_own = |holder: &ObservedRun| holder.namespace() == run.namespace();
            let nodes = contested(observed, run).into_iter();
            let held = nodes.filter(|node| holder(observed, &node.name).is_some_and(is_own));
            let older = ranked
                .iter()
                .filter(|(_, other)| compete(observed, run, other));
            let ahead = older.fold(held.count(), |ahead, (its, _)| ahead.max(*its) + 1);
            ranked.push((ahead, run));
        }
        // Stable: the oldest stays first.
        ranked.sort_by_key(|(ahead, run)| (*ahead, observed.served.get(run.namespace())));
        ranked.into_iter().map(|(_, run)| run).collect()
    }

    proptest! {
        #[test]
        fn runs_wait_in_the_order_of_the_rule(observed in worlds()) {
            prop_assert_eq!(in_order(&observed), by_the_rule(&observed));
        }

        #[test]
        fn no_run_comes_before_an_older_one_of_its_namespace_that_competes_with_it(observed in worlds()) {
            let order = in_order(&observed);
            for (at, run) in order.iter().enumerate() {
                for later in &order[at..] {
                    prop_assert!(age(run) <= age(later) || !compete(&observed, run, later));
                }
            }
        }

        #[test]
        fn a_node_is_held_by_the_run_of_its_lease_unless_that_has_ended(observed in worlds()) {
            let queue = Order::new(&observed);
            for lease in &observed.leases {
                prop_assert_eq!(queue.holder(&lease.node), holder(&observed, &lease.node));
            }
        }
    }
}
