//! Late probes, which an operator launched although another one had taken over: who removes them, and
//! which trial is measured again.

use jiff::{SignedDuration, Timestamp};
use wasmbench_core::observed::{
    LateProbe, ObservedLease, ObservedPod, ObservedProbe, ObservedSubject, PodState,
};
use wasmbench_core::plan::{Stage, Step, Wake, is_to_remove, plan};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered::Likeness;
use wasmbench_model::store::Ended;

use crate::common;
use crate::nodes::{holding, observed};

const NOW: Timestamp = Timestamp::UNIX_EPOCH;

/// A run without an echo server.
fn run() -> ValidatedRun {
    common::validated_precise(7, 10)
}

fn late(run_uid: &str) -> LateProbe {
    LateProbe {
        node: "bench-1".into(),
        job: "late".into(),
        uid: "late-uid".into(),
        run_uid: run_uid.into(),
        deleting: false,
    }
}

fn claim(holder: Option<&str>) -> ObservedLease {
    common::lease("bench-1", holder.map(str::to_owned))
}

fn pod(name: &str, state: PodState) -> ObservedPod {
    ObservedPod {
        name: name.into(),
        uid: name.into(),
        created: NOW,
        deleting: None,
        node: Some("bench-1".into()),
        likeness: Likeness::Unaltered,
        ip: Some([10, 0, 0, 8].into()),
        state,
    }
}

/// A probe of the first trial whose document waits to be recorded.
fn measured(run: &ValidatedRun) -> (ObservedSubject, ObservedProbe) {
    let trial = run.order[0].clone();
    let ended = PodState::Ended {
        exit_code: Some(0),
        reason: "Completed".into(),
        message: String::new(),
    };
    let probe = ObservedProbe {
        trial: trial.clone(),
        job: "probe".into(),
        uid: "probe-uid".into(),
        created: NOW,
        subject_uid: "subject".into(),
        deleting: false,
        end: None,
        pod: Some(pod("probe-pod", ended)),
    };
    let pod = pod("subject", PodState::Running);
    (ObservedSubject { trial, pod }, probe)
}

fn removal(job: &str) -> Step {
    Step::RemoveProbe {
        job: job.into(),
        uid: format!("{job}-uid"),
    }
}

#[test]
fn a_late_probe_is_removed_by_the_run_that_holds_its_node_or_else_by_its_own() {
    let late = late("own");
    for (leases, remover) in [
        (vec![claim(Some("holder"))], "holder"),
        (vec![claim(Some("own"))], "own"),
        (vec![claim(None)], "own"),
        (vec![], "own"),
    ] {
        for run in ["holder", "own", "third"] {
            let removes = is_to_remove(&late, run, &leases);
            assert_eq!(removes, run == remover, "{run}: {leases:?}");
        }
    }
}

#[test]
fn a_trial_that_a_late_probe_overlapped_has_no_record_and_is_measured_again() {
    let run = run();
    let mut observed = holding(&run);
    let (subject, probe) = measured(&run);
    observed.subjects = vec![subject];
    observed.probes = vec![probe];
    let undisturbed = plan(&run, &observed, NOW);
    let collects = |step: &Step| matches!(step, Step::CollectRecord { .. });
    assert!(undisturbed.steps.iter().any(collects), "{undisturbed:?}");
    observed.late = vec![late("another-run")];
    let disturbed = plan(&run, &observed, NOW);
    let subject = Step::RemoveSubject {
        pod: "subject".into(),
        uid: "subject".into(),
    };
    // The load that disturbs others ends first.
    assert_eq!(
        disturbed.steps,
        [removal("late"), removal("probe"), subject]
    );
    // Once both are gone, the trial begins anew.
    (observed.late, observed.probes, observed.subjects) = (vec![], vec![], vec![]);
    let again = plan(&run, &observed, NOW).steps;
    assert_eq!(again, [Step::DeploySubject(run.order[0].clone())]);
}

#[test]
fn nothing_starts_before_a_late_probe_is_gone() {
    let run = run();
    let mut observed = holding(&run);
    let deleting = LateProbe {
        deleting: true,
        ..late(&run.uid)
    };
    observed.late = vec![deleting];
    let plan = plan(&run, &observed, NOW);
    assert_eq!(plan.steps, []);
    let Stage::Queued { message } = &plan.stage else {
        panic!("{plan:?}")
    };
    assert!(message.contains("Job late"), "{message}");
    assert_eq!(plan.wake, Wake::At(NOW + SignedDuration::from_secs(1)));
}

#[test]
fn trials_recorded_before_a_late_probe_came_stay() {
    let run = run();
    let mut observed = holding(&run);
    observed
        .records
        .insert(run.order[0].clone(), Ended::Measured);
    observed.demands.node = Some("bench-1".into());
    observed.late = vec![late("another-run")];
    let plan = plan(&run, &observed, NOW);
    assert_eq!((plan.completed, plan.steps), (1, vec![removal("late")]));
}

#[test]
fn a_run_without_a_node_removes_its_own_late_probe_and_one_that_is_suspended_too() {
    let mut run = run();
    let mut observed = observed(&run);
    observed.late = vec![late(&run.uid)];
    assert_eq!(plan(&run, &observed, NOW).steps, [removal("late")]);
    run.spec.suspend = true;
    observed.leases = vec![claim(Some(&run.uid))];
    assert_eq!(
        plan(&run, &observed, NOW).steps,
        [removal("late")],
        "the node is kept until then"
    );
    observed.late.clear();
    let releases = Step::ReleaseNode {
        node: "bench-1".into(),
    };
    assert_eq!(plan(&run, &observed, NOW).steps, [releases]);
}
