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
    seen: &Observed,
    node: &str,
    obstacle: &Obstacle,
    otherwise: Next,
    now: Timestamp,
) -> Next {
    if counts(seen, obstacle, &otherwise) {
        return otherwise;
    }
    // Pods on a node that is not ready stay, and would be in the way of a trial on another one.
    let has_left = *obstacle == Obstacle::NotReady && pods_of(seen).next().is_some();
    let steps = if seen.demands.node.is_some() || has_left {
        remove_everything(seen)
    } else {
        releasing(run, seen, now)
    };
    wait(steps, format!("waiting: node {node} {obstacle}"), now)
}

/// What to do if the `node` of a trial was lost, whether or not it is back, given what would be done
/// otherwise.
pub fn after_loss(seen: &Observed, node: &str, otherwise: Next, now: Timestamp) -> Next {
    let (steps, ..) = &otherwise;
    let removals = remove_everything(seen);
    let fails = steps.iter().any(|step| fails(seen, step));
    if !fails || !was_lost(seen, node) || removals.is_empty() {
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
fn counts(seen: &Observed, obstacle: &Obstacle, (steps, stage, _): &Next) -> bool {
    let Stage::Measuring { trial, .. } = stage else {
        return false;
    };
    let is_at_work = steps.iter().all(is_removal) && probe_of(seen, trial).is_some_and(measures);
    let has_measured = |step: &Step| step.records() && !fails(seen, step);
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
fn probe_of<'a>(seen: &'a Observed, trial: &TrialId) -> Option<&'a ObservedProbe> {
    let (probe, _) = again::probes(seen, trial);
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
fn fails(seen: &Observed, step: &Step) -> bool {
    let Step::CollectRecord { trial, .. } = step else {
        return matches!(step, Step::RecordFailure { .. });
    };
    let pod = probe_of(seen, trial).and_then(|probe| probe.pod.as_ref());
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
fn was_lost(seen: &Observed, node: &str) -> bool {
    let mut nodes = seen.nodes.iter();
    let Some(node) = nodes.find(|one| one.name == node).filter(|one| one.ready) else {
        return true;
    };
    let made = seen.subjects.iter().chain(&seen.cold_subjects);
    let subjects = made.chain(&seen.scaled_subjects);
    let pods = subjects.map(|subject| &subject.pod).chain(upstreams(seen));
    let probes = seen.probes.iter().map(|probe| probe.created);
    pods.map(|pod| pod.created).chain(probes).min() < node.ready_changed
}

/// The echo server, or if none works, those that have ended: once one works again, these are
/// irrelevant to the trial.
fn upstreams(seen: &Observed) -> &[ObservedPod] {
    let ended = seen.upstreams.as_slice();
    seen.upstream().map_or(ended, std::slice::from_ref)
}
