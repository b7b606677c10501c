//! Which nodes meet a run's demands, and what a run does while none takes its pods.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use wasmbench_core::demands::demands;
use wasmbench_core::observed::{Observed, ObservedNode, ObservedTaint};
use wasmbench_core::plan::{self, Plan, Stage, Step, Wake};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::store::Ended;

use crate::common::{self, node};
use crate::simulated_world::occupant;

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

pub fn observed(run: &ValidatedRun) -> Observed {
    Observed {
        nodes: vec![node("bench-1")],
        demands: common::demands(run),
        runtime_classes: ["spin".to_owned()].into(),
        ..Observed::default()
    }
}

/// What the run plans once it has its turn.
fn plan(run: &ValidatedRun, observed: &Observed, now: Timestamp) -> Plan {
    plan::plan(run, &common::in_turn(run, observed), now)
}

pub fn holding(run: &ValidatedRun) -> Observed {
    Observed {
        leases: vec![common::lease("bench-1", Some(run.uid.clone()))],
        ..observed(run)
    }
}

/// The first trial has a record, which binds the run to its node.
fn recorded(run: &ValidatedRun, mut observed: Observed) -> Observed {
    observed
        .records
        .insert(run.order[0].clone(), Ended::Measured);
    observed.demands.node = Some("bench-1".into());
    observed
}

fn taint(key: &str) -> ObservedTaint {
    ObservedTaint {
        key: key.into(),
        value: "yes".into(),
        effect: "NoSchedule".into(),
    }
}

/// What the run waits for, and without doing anything.
fn waits(plan: &Plan) -> &str {
    let Stage::Queued { message } = &plan.stage else {
        panic!("it does not wait: {plan:?}");
    };
    assert_eq!(plan.steps, [], "{message}");
    message
}

/// Changes a node.
type Fault = fn(&mut ObservedNode);

/// Everything that keeps pods off a node for a while, and what the run reports about it.
fn obstacles() -> [(Fault, &'static str); 5] {
    [
        (|node| node.cordoned = true, "bench-1 is cordoned"),
        (|node| node.ready = false, "bench-1 is not ready"),
        (
            |node| node.taints.push(taint("gpu")),
            "taint gpu=yes:NoSchedule",
        ),
        (
            |node| node.taints.push(taint("ToBeDeletedByClusterAutoscaler")),
            "ToBeDeletedByClusterAutoscaler",
        ),
        (
            |node| node.taints.push(taint("node.kubernetes.io/disk-pressure")),
            "node.kubernetes.io/disk-pressure",
        ),
    ]
}

#[test]
fn a_run_waits_for_every_obstacle_on_its_node_and_names_it() {
    let run = common::validated();
    for (inject, text) in obstacles() {
        for mut observed in [observed(&run), recorded(&run, observed(&run))] {
            inject(&mut observed.nodes[0]);
            let plan = plan(&run, &observed, Timestamp::MAX);
            let message = waits(&plan);
            assert!(message.contains(text), "{message}");
        }
    }
}

#[test]
fn a_run_starts_nothing_on_an_unavailable_node_but_keeps_its_claim() {
    let run = common::validated();
    for (inject, text) in obstacles() {
        let mut observed = recorded(&run, holding(&run));
        inject(&mut observed.nodes[0]);
        let plan = plan(&run, &observed, NOW);
        let message = waits(&plan);
        assert!(message.contains(text), "{message}");
        assert_eq!(plan.node.as_deref(), Some("bench-1"));
    }
}

#[test]
fn a_run_without_records_releases_an_unavailable_node_and_claims_another() {
    let run = common::validated();
    let mut observed = holding(&run);
    observed.nodes[0].cordoned = true;
    let node_name = "bench-1".to_owned();
    let release = Step::ReleaseNode { node: node_name };
    assert_eq!(plan(&run, &observed, NOW).steps, [release]);
    observed.leases[0].holder = None;
    observed.nodes.push(node("bench-2"));
    let steps = plan(&run, &observed, NOW).steps;
    assert!(
        matches!(&steps[..], [Step::ClaimNode { node, .. }] if node == "bench-2"),
        "{steps:?}"
    );
}

/// A release can be refused, and not everything that goes is noticed.
#[test]
fn a_suspended_run_looks_again_until_it_holds_no_node() {
    let mut run = common::validated();
    run.spec.suspend = true;
    let mut observed = holding(&run);
    let releasing = plan(&run, &observed, NOW);
    assert!(matches!(releasing.wake, Wake::At(_)), "{releasing:?}");
    observed.leases.clear();
    let suspended = plan(&run, &observed, NOW);
    assert_eq!((suspended.steps, suspended.wake), (vec![], Wake::OnChange));
}

#[test]
fn a_tolerated_taint_is_no_obstacle() {
    let run = common::validated();
    let mut observed = observed(&run);
    observed.nodes[0].taints = vec![taint("bench")];
    let steps = plan(&run, &observed, NOW).steps;
    assert!(matches!(steps[..], [Step::ClaimNode { .. }]), "{steps:?}");
}

#[test]
fn a_node_that_was_cordoned_after_the_queue_looked_is_checked_again_soon() {
    let run = common::validated();
    let mut behind = common::in_turn(&run, &observed(&run));
    behind.nodes[0].cordoned = true;
    let plan = plan::plan(&run, &behind, NOW);
    assert!(waits(&plan).contains("bench-1 is cordoned"));
    assert!(matches!(plan.wake, Wake::At(_)), "the queue may not notice");
}

/// A run that waits reads one node only: the one that it would take.
#[test]
fn a_run_takes_the_free_node_that_nothing_is_on_and_reads_no_other() {
    let run = common::validated();
    let mut free = observed(&run);
    free.nodes = vec![node("bench-1"), node("bench-2")];
    let mut turn = common::in_turn(&run, &free);
    turn.occupants.push(occupant("other"));
    let relevant = plan::relevant_nodes(&run.uid, &turn);
    turn.nodes.retain(|node| relevant.contains(&node.name));
    let steps = plan::plan(&run, &turn, NOW).steps;
    assert!(
        matches!(&steps[..], [Step::ClaimNode { node, .. }] if node == "bench-2"),
        "{steps:?}"
    );
}

#[test]
fn a_run_that_the_queue_has_not_placed_does_nothing() {
    let run = common::validated();
    let plan = plan::plan(&run, &observed(&run), NOW);
    assert!(waits(&plan).contains("its place in the queue"));
    assert_eq!(plan.wake, Wake::OnChange, "the queue wakes it");
}

#[test]
fn a_run_without_a_matching_node_stalls_and_ends_with_a_report_after_ten_minutes() {
    let run = common::validated();
    for mut observed in [
        observed(&run),
        recorded(&run, observed(&run)),
        recorded(&run, holding(&run)),
    ] {
        observed.nodes.clear();
        let after = |seconds| NOW + SignedDuration::from_secs(seconds);
        let now = plan(&run, &observed, NOW);
        assert!(matches!(now.stage, Stage::NoNode { .. }), "{now:?}");
        assert!(matches!(now.wake, Wake::At(_)), "{now:?}");
        observed.unmatched_since = Some(NOW);
        let waiting = plan(&run, &observed, after(599));
        assert!(!waiting.steps.contains(&Step::Summarise), "{waiting:?}");
        let ending = plan(&run, &observed, after(600));
        assert!(ending.steps.contains(&Step::Summarise), "{ending:?}");
        // It still reports since when, in case the report cannot be written.
        assert!(matches!(ending.stage, Stage::NoNode { .. }), "{ending:?}");
        observed.report = true;
        observed.leases.clear();
        observed.nodes.push(node("bench-1"));
        let ended = plan(&run, &observed, after(601));
        assert!(matches!(ended.stage, Stage::GaveUp { .. }), "{ended:?}");
        assert_eq!((ended.steps, ended.wake), (vec![], Wake::OnChange));
    }
}

#[test]
fn a_node_that_joins_within_ten_minutes_is_claimed() {
    let run = common::validated();
    let mut observed = observed(&run);
    observed.unmatched_since = Some(NOW);
    let steps = plan(&run, &observed, NOW + SignedDuration::from_mins(9)).steps;
    assert!(matches!(steps[..], [Step::ClaimNode { .. }]), "{steps:?}");
}

/// What the run demands where the class of its variant `mine` has this `scheduling.nodeSelector`.
fn with_class(run: &ValidatedRun, selector: &[(&str, &str)]) -> Observed {
    let selector = selector.iter();
    let selector = selector.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let classes: BTreeMap<_, _> = [("spin".to_owned(), selector.collect())].into();
    Observed {
        demands: demands(&run.spec, &common::config(), &classes, None),
        ..observed(run)
    }
}

#[test]
fn the_node_meets_every_runtime_class_of_the_run() {
    let run = common::validated();
    let mut observed = with_class(&run, &[("shim", "yes")]);
    let Stage::NoNode { message } = plan(&run, &observed, NOW).stage else {
        panic!("it has a node");
    };
    assert!(
        message.contains("shim=yes (RuntimeClass spin)"),
        "{message}"
    );
    assert!(
        !message.contains("disk=quiet"),
        "that one it has: {message}"
    );
    let mut other = node("bench-2");
    other.labels.insert("shim".into(), "yes".into());
    observed.nodes.push(other);
    let steps = plan(&run, &observed, NOW).steps;
    assert!(
        matches!(&steps[..], [Step::ClaimNode { node, .. }] if node == "bench-2"),
        "{steps:?}"
    );
}

#[test]
fn an_unused_runtime_class_demands_nothing() {
    let mut run = common::validated();
    run.spec.variants.truncate(1);
    let observed = with_class(&run, &[("shim", "yes")]);
    let steps = plan(&run, &observed, NOW).steps;
    assert!(matches!(steps[..], [Step::ClaimNode { .. }]), "{steps:?}");
}

#[test]
fn a_runtime_class_that_the_cluster_lacks_demands_nothing_and_is_known() {
    let run = common::validated();
    let without_class = demands(&run.spec, &common::config(), &BTreeMap::new(), None);
    assert_eq!(without_class.missing_classes, ["spin"]);
    assert_eq!(without_class.labels, common::demands(&run).labels);
    assert!(common::demands(&run).missing_classes.is_empty());
}

#[test]
fn a_node_of_another_architecture_or_system_is_not_claimed() {
    let run = common::validated();
    for (key, value) in [
        ("kubernetes.io/arch", "arm64"),
        ("kubernetes.io/os", "windows"),
    ] {
        let mut observed = observed(&run);
        observed.nodes[0].labels.insert(key.into(), value.into());
        let Stage::NoNode { message } = plan(&run, &observed, NOW).stage else {
            panic!("it takes {value}");
        };
        assert!(message.contains(key), "{message}");
    }
}
