//! Which trials are skipped after others of their variant and workload have failed.

use jiff::Timestamp;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Stage, Step, plan};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::TrialId;

use crate::common;

/// The run holds its node, and `records` are stored.
fn observed(run: &ValidatedRun, records: &[(&TrialId, Ended)]) -> Observed {
    let records = records.iter();
    Observed {
        nodes: vec![common::node("bench-1")],
        demands: common::demands(run),
        leases: vec![common::lease("bench-1", Some(run.uid.clone()))],
        runtime_classes: ["spin".to_owned()].into(),
        records: records
            .map(|(trial, ended)| ((*trial).clone(), ended.clone()))
            .collect(),
        ..Observed::default()
    }
}

/// The trials of `tortoise` under `greet`, in the run's order.
fn greetings(run: &ValidatedRun) -> Vec<&TrialId> {
    let is_one =
        |trial: &&TrialId| trial.cell.variant == "tortoise" && trial.cell.workload == "greet";
    run.order.iter().filter(is_one).collect()
}

/// What is skipped next, and why, once these records are stored.
fn skipped(run: &ValidatedRun, records: &[(&TrialId, Ended)]) -> Option<(Vec<TrialId>, String)> {
    let steps = plan(run, &observed(run, records), Timestamp::UNIX_EPOCH).steps;
    steps.into_iter().find_map(|step| {
        if let Step::RecordSkipped(skipped) = step {
            Some((skipped.trials, skipped.failure.reason.to_string()))
        } else {
            None
        }
    })
}

fn failed(reason: &str) -> Ended {
    Ended::Failed(reason.into())
}

#[test]
fn a_wrong_answer_costs_a_variant_and_workload_the_ready_timeout_only_once() {
    let run = common::validated();
    let trials = greetings(&run);
    assert!(trials.len() > 2, "several points in two blocks");
    let (rest, reason) = skipped(&run, &[(trials[0], failed("WrongAnswer"))]).expect("a skip");
    assert_eq!(rest.iter().collect::<Vec<_>>(), trials[1..]);
    assert_eq!(reason, "WrongAnswer");
}

#[test]
fn a_variant_that_answered_correctly_once_is_tried_to_the_end() {
    let run = common::validated();
    let trials = greetings(&run);
    let records = [
        (trials[0], Ended::Measured),
        (trials[1], failed("WrongAnswer")),
        (trials[2], failed("WrongAnswer")),
    ];
    assert_eq!(skipped(&run, &records), None);
}

#[test]
fn a_pod_changed_by_hand_does_not_exclude_a_measured_variant() {
    let run = common::validated();
    let trials = greetings(&run);
    let altered = (trials[1], failed("SubjectAltered"));
    let (rest, _) = skipped(&run, std::slice::from_ref(&altered)).expect("all pods are changed");
    assert!(rest.len() > trials.len() - 2, "the whole variant");
    let measured = (trials[0], Ended::Measured);
    assert_eq!(skipped(&run, &[measured, altered]), None);
}

#[test]
fn failures_that_may_be_chance_are_tried_twice() {
    let run = common::validated();
    let trials = greetings(&run);
    let first = (trials[0], failed("NeverListened"));
    assert_eq!(skipped(&run, std::slice::from_ref(&first)), None);
    let second = (trials[1], failed("SubjectCrashed"));
    let (rest, reason) = skipped(&run, &[first, second]).expect("a skip");
    assert_eq!(rest.len(), trials.len() - 2);
    assert_eq!(reason, "SubjectCrashed");
}

#[test]
fn a_single_failed_cold_start_excludes_no_trial() {
    let run = common::validated_cold();
    let trials = greetings(&run);
    let is_cold = |trial: &&&TrialId| trial.cell.point.probe_creates_pods();
    let cold: Vec<_> = trials.iter().filter(is_cold).collect();
    let first = (*cold[0], failed("WrongAnswer"));
    assert_eq!(skipped(&run, std::slice::from_ref(&first)), None);
    let second = (*cold[1], failed("WrongAnswer"));
    assert!(skipped(&run, &[first, second]).is_some());
}

/// All scouts have answered, and nothing of these variants will be measured.
fn without(run: &ValidatedRun, variants: &[&str]) -> Vec<(TrialId, Ended)> {
    let of = |trial: &TrialId| {
        let is_lost = variants.contains(&trial.cell.variant.as_str());
        match (trial.is_scout(), is_lost) {
            (true, _) => Some(Ended::Measured),
            (false, true) => Some(Ended::Skipped("SubjectNotStarted".into())),
            (false, false) => None,
        }
    };
    let trials = run.order.iter();
    trials
        .filter_map(|trial| Some((trial.clone(), of(trial)?)))
        .collect()
}

#[test]
fn a_run_that_can_compare_nothing_says_so_and_stops_where_the_spec_says() {
    let mut run = common::validated();
    for (lost, text) in [
        (&["tortoise"][..], "the baseline tortoise is not measured"),
        (&["hare", "mine"][..], "no other variant is measured"),
    ] {
        run.spec.stop_without_comparison = false;
        let records = without(&run, lost);
        let records: Vec<_> = records
            .iter()
            .map(|(trial, ended)| (trial, ended.clone()))
            .collect();
        assert_eq!(skipped(&run, &records), None);
        let stage = plan(&run, &observed(&run, &records), Timestamp::UNIX_EPOCH).stage;
        let is_named = matches!(&stage, Stage::Measuring { message, .. } if message.contains(text));
        assert!(is_named, "{stage:?}");
        run.spec.stop_without_comparison = true;
        let (rest, reason) = skipped(&run, &records).expect("the rest");
        assert_eq!(reason, "NothingToCompare");
        assert_eq!(rest.len() + records.len(), run.order.len());
    }
    let records = without(&run, &["hare"]);
    let records: Vec<_> = records
        .iter()
        .map(|(trial, ended)| (trial, ended.clone()))
        .collect();
    assert_eq!(skipped(&run, &records), None, "one is left");
}
