//! What is seen of nodes and of the queue.

use jiff::Timestamp;
use wasmbench_core::demands;
use wasmbench_core::observed::{
    Demands, Observed, ObservedLease, ObservedNode, ObservedRun, Standing,
};
use wasmbench_core::queue::{Cluster, turns};
use wasmbench_core::validate::ValidatedRun;

/// A claim on a node, which nothing has been noted on.
pub fn lease(node: &str, holder: Option<String>) -> ObservedLease {
    ObservedLease {
        node: node.to_owned(),
        holder,
        resource_version: None,
        scaled: None,
    }
}

/// A node that takes pods of the run of the fixtures.
pub fn node(name: &str) -> ObservedNode {
    let labels = [
        ("disk", "quiet"),
        ("kubernetes.io/arch", "amd64"),
        ("kubernetes.io/os", "linux"),
    ];
    let owned = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    ObservedNode {
        name: name.into(),
        labels: labels.map(owned).into(),
        ready: true,
        ..ObservedNode::default()
    }
}

/// What `run` demands of its node, before it has records.
pub fn demands(run: &ValidatedRun) -> Demands {
    let classes = [("spin".to_owned(), [].into())].into();
    demands::demands(&run.spec, &super::config(), &classes, None)
}

/// `run` in the queue.
pub fn observed_run(run: &ValidatedRun) -> ObservedRun {
    ObservedRun {
        uid: run.uid.clone(),
        name: "team-a/gatekeeper".into(),
        created: Timestamp::UNIX_EPOCH,
        standing: Standing::Active,
        demands: demands(run),
        seconds: 60,
    }
}

/// What `run` sees once it has its turn, if it is alone.
pub fn in_turn(run: &ValidatedRun, observed: &Observed) -> Observed {
    let run = ObservedRun {
        demands: observed.demands.clone(),
        ..observed_run(run)
    };
    let cluster = Cluster {
        runs: vec![run.clone()],
        nodes: observed.nodes.clone(),
        leases: observed.leases.clone(),
        ..Cluster::default()
    };
    let turns = turns(&cluster, Timestamp::UNIX_EPOCH);
    Observed {
        turn: turns.of.get(&run.uid).cloned(),
        gone: turns.gone,
        ..observed.clone()
    }
}
