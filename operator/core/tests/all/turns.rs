//! What holds of the turns of any runs on any nodes.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use proptest::prelude::*;
use wasmbench_core::fit::{meets, takes};
use wasmbench_core::observed::{
    Demands, Expected, LabelDemand, ObservedNode, ObservedRun, Outlook, Standing,
};
use wasmbench_core::queue::{Cluster, turns};

use crate::common;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn at(second: u64) -> Timestamp {
    NOW + SignedDuration::from_secs(i64::try_from(second).expect("soon"))
}

fn standing() -> impl Strategy<Value = Standing> {
    prop_oneof![
        8 => Just(Standing::Active),
        1 => Just(Standing::Suspended),
        1 => Just(Standing::Ended),
    ]
}

/// What a run demands: a node of one of the two classes, or any.
fn demands(class: u8) -> Demands {
    let classes: &[&str] = match class {
        0 => &["fast"],
        1 => &["slow"],
        _ => &["fast", "slow"],
    };
    let label = LabelDemand {
        key: "class".into(),
        values: classes.iter().map(|class| (*class).to_owned()).collect(),
        by: "somebody".into(),
    };
    Demands {
        labels: vec![label],
        ..Demands::default()
    }
}

prop_compose! {
    fn clusters()(
        runs in prop::collection::vec((0..3_u8, 0..4_u64, standing(), 0..3_u8, 0..100_u64), 0..12),
        nodes in prop::collection::vec((any::<bool>(), prop::bool::weighted(0.8)), 0..5),
        holders in prop::collection::vec(prop::option::of(0..15_usize), 0..4),
        served in prop::collection::btree_map(0..3_u8, 0..4_u64, 0..3),
    ) -> Cluster {
        let run = |(number, (namespace, created, standing, class, seconds))| ObservedRun {
            uid: format!("uid-{number}"),
            name: format!("team-{namespace}/run-{number}"),
            created: at(created),
            standing,
            demands: demands(class),
            seconds,
        };
        let node = |(number, (is_fast, ready)): (usize, (bool, bool))| ObservedNode {
            name: format!("node-{number}"),
            labels: [("class".into(), if is_fast { "fast" } else { "slow" }.into())].into(),
            ready,
            ..ObservedNode::default()
        };
        let lease = |(number, holder): (usize, Option<usize>)| {
            let holder = holder.map(|number| format!("uid-{number}"));
            common::lease(&format!("node-{number}"), holder)
        };
        let served = served.into_iter();
        Cluster {
            runs: runs.into_iter().enumerate().map(run).collect(),
            nodes: nodes.into_iter().enumerate().map(node).collect(),
            leases: holders.into_iter().enumerate().map(lease).collect(),
            served: served.map(|(one, second)| (format!("team-{one}"), at(second))).collect(),
        }
    }
}

fn holder<'a>(cluster: &'a Cluster, node: &str) -> Option<&'a ObservedRun> {
    let mut leases = cluster.leases.iter();
    let uid = leases.find(|lease| lease.node == node)?.holder.as_ref()?;
    let mut runs = cluster.runs.iter();
    runs.find(|run| run.uid == *uid && run.standing != Standing::Ended)
}

fn holds(cluster: &Cluster, run: &ObservedRun) -> bool {
    let mut leases = cluster.leases.iter();
    leases.any(|lease| holder(cluster, &lease.node).is_some_and(|holder| holder.uid == run.uid))
}

fn waiting(cluster: &Cluster) -> Vec<&ObservedRun> {
    let runs = cluster.runs.iter();
    let waits = |run: &&ObservedRun| run.standing == Standing::Active && !holds(cluster, run);
    runs.filter(waits).collect()
}

/// The nodes for which a run competes: those that take its pods now, or else those that would.
fn contested<'a>(cluster: &'a Cluster, run: &ObservedRun) -> Vec<&'a ObservedNode> {
    let mut found: Vec<&ObservedNode> = cluster.nodes.iter().collect();
    found.retain(|node| meets(&run.demands, node));
    if found.iter().any(|node| takes(&run.demands, node)) {
        found.retain(|node| takes(&run.demands, node));
    }
    found
}

/// The waiting runs, the next one first, as each works it out alone: namespaces take turns on each node,
/// and in each of them the oldest is first.
fn in_turn(cluster: &Cluster) -> Vec<&ObservedRun> {
    let mut runs = waiting(cluster);
    runs.sort_by_key(|run| (run.created, run.uid.as_str()));
    let mut ranked: Vec<(usize, &ObservedRun)> = vec![];
    for run in runs {
        let own = contested(cluster, run);
        let is_own = |other: &ObservedRun| other.namespace() == run.namespace();
        let held = own
            .iter()
            .filter(|node| holder(cluster, &node.name).is_some_and(is_own));
        let is_rival = |other: &ObservedRun| {
            let nodes = contested(cluster, other);
            is_own(other) && nodes.iter().any(|node| own.contains(node))
        };
        let older = ranked.iter().filter(|(_, other)| is_rival(other));
        let ahead = older.fold(held.count(), |ahead, (its, _)| ahead.max(*its) + 1);
        ranked.push((ahead, run));
    }
    // Stable: the oldest stays first.
    ranked.sort_by_key(|(ahead, run)| (*ahead, cluster.served.get(run.namespace())));
    ranked.into_iter().map(|(_, run)| run).collect()
}

/// The node that each run takes now: each of those before it takes the first node that suits it.
fn taken(cluster: &Cluster) -> BTreeMap<&str, &str> {
    let mut free: Vec<&ObservedNode> = cluster.nodes.iter().collect();
    free.retain(|node| holder(cluster, &node.name).is_none());
    let mut taken = BTreeMap::new();
    for run in in_turn(cluster) {
        if let Some(place) = free.iter().position(|node| takes(&run.demands, node)) {
            taken.insert(run.uid.as_str(), free.remove(place).name.as_str());
        }
    }
    taken
}

/// The node of a run, and when it begins and ends.
fn planned(run: &ObservedRun, outlook: &Outlook) -> Option<(String, Timestamp, Timestamp)> {
    match outlook {
        Outlook::Free(free) => Some((free[0].node.clone(), NOW, at(run.seconds.max(1)))),
        Outlook::Later(Some(Expected {
            node, begins, ends, ..
        })) => Some((node.clone(), *begins, *ends)),
        Outlook::Later(None) | Outlook::Unavailable(_) | Outlook::Unmatched(_) => None,
    }
}

proptest! {
    #[test]
    fn each_run_takes_the_node_that_it_would_work_out_alone(cluster in clusters()) {
        let found = turns(&cluster, NOW).of;
        let taken = taken(&cluster);
        prop_assert_eq!(found.len(), waiting(&cluster).len());
        for run in waiting(&cluster) {
            let free = match &found[&run.uid].outlook {
                Outlook::Free(free) => free.as_slice(),
                Outlook::Later(_) | Outlook::Unavailable(_) | Outlook::Unmatched(_) => &[],
            };
            let node = free.first().map(|first| first.node.as_str());
            let right = taken.get(run.uid.as_str()).copied();
            prop_assert_eq!(node, right, "{}", run.name);
        }
    }

    #[test]
    fn no_node_is_for_two_runs_at_once(cluster in clusters()) {
        let found = turns(&cluster, NOW).of;
        let mut busy: BTreeMap<String, Vec<(Timestamp, Timestamp)>> = BTreeMap::new();
        for node in &cluster.nodes {
            if let Some(holder) = holder(&cluster, &node.name) {
                let until = at(holder.seconds.max(1));
                busy.entry(node.name.clone()).or_default().push((NOW, until));
            }
        }
        for run in waiting(&cluster) {
            if let Some((node, begins, ends)) = planned(run, &found[&run.uid].outlook) {
                prop_assert!(begins >= NOW && ends >= begins);
                busy.entry(node).or_default().push((begins, ends));
            }
        }
        for times in busy.values_mut() {
            times.sort();
            prop_assert!(times.windows(2).all(|two| two[0].1 <= two[1].0), "{:?}", times);
        }
    }

    #[test]
    fn whoever_a_node_takes_has_a_time_and_nobody_starves(cluster in clusters()) {
        let found = turns(&cluster, NOW).of;
        let longest: u64 = cluster.runs.iter().map(|run| run.seconds.max(1)).sum();
        for run in waiting(&cluster) {
            let outlook = &found[&run.uid].outlook;
            let is_possible = cluster.nodes.iter().any(|node| takes(&run.demands, node));
            let times = planned(run, outlook);
            prop_assert_eq!(times.is_some(), is_possible, "{:?}", outlook);
            if let Some((_, begins, _)) = times {
                prop_assert!(begins <= at(longest), "all others are over by then");
            }
        }
    }
}

#[test]
fn a_thousand_runs_on_two_hundred_nodes_are_placed_with_one_look_at_each() {
    let run = |number: u64| ObservedRun {
        uid: format!("uid-{number}"),
        name: format!("team-{}/run-{number}", number % 50),
        created: at(number),
        standing: Standing::Active,
        demands: demands(2),
        seconds: 60,
    };
    let node = |number| ObservedNode {
        name: format!("node-{number:03}"),
        labels: [("class".to_owned(), "fast".to_owned())].into(),
        ready: true,
        ..ObservedNode::default()
    };
    let cluster = Cluster {
        runs: (0..1000).map(run).collect(),
        nodes: (0..200).map(node).collect(),
        ..Cluster::default()
    };
    let found = turns(&cluster, NOW).of;
    let last = found.values().max_by_key(|turn| turn.place).expect("a run");
    assert_eq!(last.place, 1000);
    let begins = last.expected().map(|expected| expected.begins);
    assert_eq!(
        begins,
        Some(at(4 * 60)),
        "four runs come before it on its node"
    );
}
