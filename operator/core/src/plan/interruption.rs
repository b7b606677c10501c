//! A node that becomes unavailable in the middle of a run: cordoned, drained, tainted, rebooted, not
//! ready. The run waits for it without a pod there, and what happens to a trial in the meantime shows
//! nothing about the service: the trial has no record, and is measured again.

use jiff::Timestamp;
use wasmbench_model::wire::record::TrialId;

use crate::fit::Obstacle;
use crate::observed::{Observed, ObservedPod, ObservedProbe, PodState};
use crate::plan::{
    NODE_CHECK, Stage, Step, Wake, again, pods, pods_of, releasing, remove_everything,
};
use crate::validate::ValidatedRun;

type Next = (Vec<Step>, Stage, Wake);

/// What to do while the held `node` takes no pods, given what would be done if it did. A run without
/// records may measure on another node.
pub fn interrupted(
    run: &ValidatedRun,
    observed: &Observed,
    node: &str,
    obstacle: &Obstacle,
    otherwise: Next,
    now: Timestamp,
) -> Next {
    if counts(observed, obstacle, &otherwise) {
        return otherwise;
    }
    // Pods on a node that is not ready stay, and would be in the way of a trial on another one.
    let has_left = *obstacle == Obstacle::NotReady && pods_of(observed).next().is_some();
    let steps = if observed.demands.node.is_some() || has_left {
        remove_everything(observed)
    } else {
        releasing(run, observed, now)
    };
    wait(steps, format!("waiting: node {node} {obstacle}"), now)
}

/// What to do if the `node` of a trial was lost, whether or not it is back, given what would be done
/// otherwise.
pub fn after_loss(observed: &Observed, node: &str, otherwise: Next, now: Timestamp) -> Next {
    let (steps, ..) = &otherwise;
    let removals = remove_everything(observed);
    let fails = steps.iter().any(|step| fails(observed, step));
    if !fails || !was_lost(observed, node) || removals.is_empty() {
        return otherwise;
    }
    let message = "the node was lost during a trial, which is measured again".to_owned();
    wait(removals, message, now)
}

fn wait(steps: Vec<Step>, message: String, now: Timestamp) -> Next {
    let wake = Wake::At(pods::later(now, NODE_CHECK));
    (steps, Stage::Queued { message }, wake)
}

/// Whether what the trial does counts although its node takes no pods now.
fn counts(observed: &Observed, obstacle: &Obstacle, (steps, stage, _): &Next) -> bool {
    let Stage::Measuring { trial, .. } = stage else {
        return false;
    };
    let is_at_work =
        steps.iter().all(is_removal) && probe_of(observed, trial).is_some_and(measures);
    let has_measured = |step: &Step| step.records() && !fails(observed, step);
    match obstacle {
        // The trial may have caused it.
        Obstacle::Pressure(_) => is_at_work || steps.iter().any(Step::records),
        // Running pods keep running, but a probe that creates pods cannot start them.
        Obstacle::NotReady | Obstacle::Cordoned | Obstacle::Taint(_) => {
            (is_at_work || steps.iter().any(has_measured)) && !trial.cell.point.probe_creates_pods()
        }
    }
}

/// The probe of `trial` that may still report.
fn probe_of<'a>(observed: &'a Observed, trial: &TrialId) -> Option<&'a ObservedProbe> {
    let (probe, _) = again::probes(observed, trial);
    probe
}

fn measures(probe: &ObservedProbe) -> bool {
    let runs = |pod: &ObservedPod| pod.state == PodState::Running && pod.deleting.is_none();
    !probe.deleting && probe.pod.as_ref().is_some_and(runs)
}

fn is_removal(step: &Step) -> bool {
    matches!(
        step,
        Step::RemoveSubject { .. }
            | Step::RemoveProbe { .. }
            | Step::RemoveUpstream { .. }
            | Step::ScaleDown { .. }
    )
}

/// Whether the step records that the trial has failed.
fn fails(observed: &Observed, step: &Step) -> bool {
    let Step::CollectRecord { trial, .. } = step else {
        return matches!(step, Step::RecordFailure { .. });
    };
    let pod = probe_of(observed, trial).and_then(|probe| probe.pod.as_ref());
    let succeeded = |pod: &ObservedPod| {
        matches!(
            pod.state,
            PodState::Ended {
                exit_code: Some(0),
                ..
            }
        )
    };
    !pod.is_some_and(succeeded)
}

/// Whether the node is gone or not ready, or became ready only after what the trial uses was created:
/// it was rebooted or cut off in between.
fn was_lost(observed: &Observed, node: &str) -> bool {
    let mut nodes = observed.nodes.iter();
    let Some(node) = nodes.find(|one| one.name == node).filter(|one| one.ready) else {
        return true;
    };
    let made = observed.subjects.iter().chain(&observed.cold_subjects);
    let subjects = made.chain(&observed.scaled_subjects);
    let pods = subjects
        .map(|subject| &subject.pod)
        .chain(upstreams(observed));
    let probes = observed.probes.iter().map(|probe| probe.created);
    pods.map(|pod| pod.created).chain(probes).min() < node.ready_changed
}

/// The echo server, or if none works, those that have ended: once one works again, these are
/// irrelevant to the trial.
fn upstreams(observed: &Observed) -> &[ObservedPod] {
    let ended = observed.upstreams.as_slice();
    observed.upstream().map_or(ended, std::slice::from_ref)
}
