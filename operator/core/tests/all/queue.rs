//! Whose turn it is, and which node fits.

use jiff::{SignedDuration, Timestamp};
use wasmbench_core::observed::{
    Demands, LabelDemand, Observed, ObservedLease, ObservedRun, Standing,
};
use wasmbench_core::plan::{self, Plan, Stage, Step};
use wasmbench_core::queue::{Cluster, turns};
use wasmbench_core::validate::ValidatedRun;

use crate::common::{self, node};

fn other(uid: &str, seconds: i64, run: &ValidatedRun) -> ObservedRun {
    ObservedRun {
        uid: uid.into(),
        name: format!("team-b/{uid}"),
        created: Timestamp::UNIX_EPOCH + SignedDuration::from_secs(seconds),
        ..common::observed_run(run)
    }
}

/// This run was created at second 100.
fn cluster(run: &ValidatedRun, others: Vec<ObservedRun>) -> Cluster {
    let mut runs = others;
    let mut this = other(&run.uid, 100, run);
    this.name = "team-a/gatekeeper".into();
    runs.push(this);
    Cluster {
        runs,
        nodes: vec![node("bench-1")],
        ..Cluster::default()
    }
}

/// What the run demands in this cluster.
fn demands<'a>(run: &ValidatedRun, cluster: &'a mut Cluster) -> &'a mut Demands {
    let mut runs = cluster.runs.iter_mut();
    let this = runs.find(|one| one.uid == run.uid);
    &mut this.expect("it is there").demands
}

/// What the run plans once it has its turn.
fn plan(run: &ValidatedRun, cluster: &Cluster) -> Plan {
    let mut runs = cluster.runs.iter();
    let this = runs.find(|one| one.uid == run.uid).expect("it is there");
    let turns = turns(cluster, Timestamp::UNIX_EPOCH);
    let observed = Observed {
        nodes: cluster.nodes.clone(),
        demands: this.demands.clone(),
        leases: cluster.leases.clone(),
        turn: turns.of.get(&run.uid).cloned(),
        gone: turns.gone,
        runtime_classes: ["spin".to_owned()].into(),
        ..Observed::default()
    };
    plan::plan(run, &observed, Timestamp::UNIX_EPOCH)
}

fn demand(key: &str, value: &str) -> LabelDemand {
    LabelDemand {
        key: key.into(),
        values: vec![value.into()],
        by: "somebody".into(),
    }
}

fn held_by(holder: &str) -> ObservedLease {
    ObservedLease {
        node: "bench-1".into(),
        holder: Some(holder.into()),
        resource_version: Some("5".into()),
        scaled: None,
    }
}

fn takes(run: &ValidatedRun, cluster: &Cluster) -> Option<String> {
    match plan(run, cluster).steps.as_slice() {
        [Step::ClaimNode { node, .. }, ..] => Some(node.clone()),
        _ => None,
    }
}

fn message(run: &ValidatedRun, cluster: &Cluster) -> String {
    let stage = plan(run, cluster).stage;
    let (Stage::Queued { message } | Stage::NoNode { message }) = &stage else {
        panic!("neither queued nor without a node: {stage:?}");
    };
    message.clone()
}

#[test]
fn a_single_run_claims_the_node() {
    let run = common::validated();
    assert_eq!(
        takes(&run, &cluster(&run, vec![])).as_deref(),
        Some("bench-1")
    );
}

#[test]
fn a_run_waits_while_another_measures_and_reports_its_place() {
    let run = common::validated();
    let mut observed = cluster(
        &run,
        vec![other("early", 1, &run), other("earlier", 2, &run)],
    );
    observed.leases = vec![held_by("early")];
    assert_eq!(takes(&run, &observed), None);
    let message = message(&run, &observed);
    assert!(
        message.contains("team-b/early") && message.contains("number 1 in the queue"),
        "another run of team-b comes after this one: {message}"
    );
    observed.runs[1].name = "team-c/earlier".into();
    let message = self::message(&run, &observed);
    assert!(message.contains("number 2 in the queue"), "{message}");
}

/// What happens when `bench-1` is free: which run takes it.
fn served(run: &ValidatedRun, cluster: &Cluster) -> String {
    let waiting = cluster.runs.iter();
    let mut waiting = waiting.filter(|one| one.standing == Standing::Active);
    let taker = waiting.find(|one| {
        let asking = ValidatedRun {
            uid: one.uid.clone(),
            ..run.clone()
        };
        takes(&asking, cluster).is_some()
    });
    taker.expect("somebody takes the node").uid.clone()
}

#[test]
fn namespaces_take_turns_however_many_runs_one_of_them_has() {
    let run = common::validated();
    let in_b = (0..5).map(|i| other(&format!("b{i}"), i, &run));
    let mut observed = cluster(&run, in_b.collect());
    let mut late = other("c0", 200, &run);
    late.name = "team-c/c0".into();
    observed.runs.push(late);
    let mut order = vec![];
    for second in 0..7 {
        let next = served(&run, &observed);
        let ended = observed
            .runs
            .iter_mut()
            .find(|one| one.uid == next)
            .unwrap();
        ended.standing = Standing::Ended;
        let namespace = ended.namespace().to_owned();
        let now = Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1000 + second);
        observed.served.insert(namespace, now);
        order.push(next);
    }
    let own = run.uid.as_str();
    assert_eq!(order, ["b0", own, "c0", "b1", "b2", "b3", "b4"]);
}

/// A node for runs of team-a alone, so many of which wait for it or hold it, and a younger run of team-b
/// that wants the same node as this one.
fn with_older_runs(run: &ValidatedRun, many: i64) -> Cluster {
    let mut observed = cluster(run, vec![other("late", 200, run)]);
    let mut gpu = node("gpu-1");
    gpu.labels = [("gpu".to_owned(), "yes".to_owned())].into();
    observed.nodes.push(gpu);
    for number in 0..many {
        let mut older = other(&format!("a{number}"), number, run);
        older.name = format!("team-a/a{number}");
        older.demands.labels = vec![demand("gpu", "yes")];
        observed.runs.push(older);
    }
    observed
}

#[test]
fn a_run_waits_for_none_of_its_namespaces_runs_that_wait_for_other_nodes() {
    let run = common::validated();
    let mut observed = with_older_runs(&run, 30);
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-1"));
    observed.nodes[1].cordoned = true;
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-1"));
}

#[test]
fn nodes_that_a_namespace_holds_elsewhere_cost_it_no_turn() {
    let run = common::validated();
    let mut observed = with_older_runs(&run, 1);
    observed.leases = vec![ObservedLease {
        node: "gpu-1".into(),
        ..held_by("a0")
    }];
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-1"));
}

#[test]
fn a_run_that_is_suspended_or_keeps_failing_is_passed() {
    let run = common::validated();
    let mut failing = other("early", 1, &run);
    failing.standing = Standing::Suspended;
    assert_eq!(
        takes(&run, &cluster(&run, vec![failing])).as_deref(),
        Some("bench-1")
    );
}

#[test]
fn an_older_run_that_needs_another_node_blocks_nobody() {
    let run = common::validated();
    let mut early = other("early", 1, &run);
    early.demands.labels.push(demand("gpu", "yes"));
    assert_eq!(
        takes(&run, &cluster(&run, vec![early])).as_deref(),
        Some("bench-1")
    );
}

#[test]
fn an_older_run_goes_first_even_when_the_node_is_free() {
    let run = common::validated();
    assert_eq!(
        takes(&run, &cluster(&run, vec![other("early", 1, &run)])),
        None
    );
}

#[test]
fn the_claim_of_a_deleted_run_does_not_count() {
    let run = common::validated();
    let mut observed = cluster(&run, vec![]);
    observed.leases = vec![held_by("deleted-long-ago")];
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-1"));
}

#[test]
fn a_suspended_run_keeps_its_node_until_it_releases_it() {
    let run = common::validated();
    let mut paused = other("paused", 1, &run);
    paused.standing = Standing::Suspended;
    let mut observed = cluster(&run, vec![paused]);
    observed.leases = vec![held_by("paused")];
    assert_eq!(takes(&run, &observed), None, "its pods may still be there");
    assert!(message(&run, &observed).contains("paused"));
    observed.leases[0].holder = None;
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-1"));
}

#[test]
fn a_finished_run_keeps_no_node() {
    let run = common::validated();
    let mut finished = other("finished", 1, &run);
    finished.standing = Standing::Ended;
    let mut observed = cluster(&run, vec![finished]);
    observed.leases = vec![held_by("finished")];
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-1"));
}

#[test]
fn a_second_node_is_used_while_the_first_is_taken() {
    let run = common::validated();
    let mut observed = cluster(&run, vec![other("early", 1, &run)]);
    observed.nodes.push(node("bench-2"));
    observed.leases = vec![held_by("early")];
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-2"));
}

#[test]
fn a_node_that_is_not_offered_is_neither_claimed_nor_waited_for() {
    let run = common::validated();
    let mut observed = cluster(&run, vec![]);
    observed.nodes.push(node("bench-2"));
    demands(&run, &mut observed)
        .labels
        .push(demand("for", "benchmarks"));
    let message = message(&run, &observed);
    assert!(message.contains("for=benchmarks (somebody)"), "{message}");
    let labels = &mut observed.nodes[1].labels;
    labels.insert("for".into(), "benchmarks".into());
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-2"));
}

#[test]
fn a_run_continues_only_on_the_node_on_which_it_began() {
    let run = common::validated();
    let mut observed = cluster(&run, vec![]);
    observed.nodes.push(node("bench-2"));
    demands(&run, &mut observed).node = Some("bench-2".into());
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-2"));
    observed.nodes.pop();
    assert!(message(&run, &observed).contains("bench-2"));
}

#[test]
fn labels_that_no_node_has_are_named() {
    let run = common::validated();
    let mut observed = cluster(&run, vec![]);
    observed.nodes[0].labels.clear();
    assert!(message(&run, &observed).contains("disk=quiet"));
}

#[test]
fn a_resumed_run_leaves_every_node_but_its_own_to_others() {
    let run = common::validated();
    let mut resumed = other("resumed", 1, &run);
    let mut observed = cluster(&run, vec![other("busy", 2, &run)]);
    observed.nodes.push(node("bench-2"));
    observed.leases = vec![held_by("busy")];
    resumed.name = "team-c/resumed".into();
    resumed.demands.node = Some("bench-1".into());
    observed.runs.push(resumed);
    assert_eq!(takes(&run, &observed).as_deref(), Some("bench-2"));
}

#[test]
fn claiming_a_node_removes_the_claims_on_deleted_nodes() {
    let run = common::validated();
    let mut observed = cluster(&run, vec![other("early", 1, &run)]);
    let lease = |node: &str, holder: Option<&str>| ObservedLease {
        node: node.into(),
        holder: holder.map(str::to_owned),
        resource_version: Some("5".into()),
        scaled: None,
    };
    observed.runs[0].standing = Standing::Suspended;
    observed.leases = vec![
        lease("bench-1", None),
        lease("spot-1", None),
        lease("spot-2", Some("early")),
    ];
    let steps = plan(&run, &observed).steps;
    let forgotten = Step::ForgetNode {
        lease: lease("spot-1", None),
    };
    assert_eq!(steps[1..], [forgotten], "one is there, one still held");
}
