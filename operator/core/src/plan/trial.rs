//! One trial at a time: a fresh subject, one probe, a record. Whatever belongs to another trial is
//! removed, but only once that trial's record has been seen.

use jiff::Timestamp;
use wasmbench_api::status::TrialPhase;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::TrialId;

use crate::observed::{Observed, ObservedProbe, ObservedSubject, PodState};
use crate::outcome::crash_of;
use crate::plan::next::Next;
use crate::plan::pod_start::{
    PROBE_POD, StuckPod, hopeless, probe_running, ready_timeout, until_deadline,
};
use crate::plan::pods::{
    altered_probe, ended_probe, fail, later, on_its_way_out, others_work, probe_on_its_way_out,
    removals, since, subject_of,
};
use crate::plan::{Stage, Step, WRITING, Wake, again, altered_pod, cold_start, scaled, upstream};
use crate::validate::ValidatedRun;

/// What to do for the first trial without a record.
pub fn next(run: &ValidatedRun, observed: &Observed, now: Timestamp) -> (Vec<Step>, Stage, Wake) {
    let Some(trial) = without_record(run, observed) else {
        let message = WRITING.to_owned();
        return (vec![], Stage::Summarising { message }, Wake::Now);
    };
    let mut steps = leftovers(observed, trial);
    let next = scaled::before(observed, trial, now)
        .or_else(|| upstream::next(run, observed, trial, now))
        .unwrap_or_else(|| current(run, observed, trial, now));
    let wake = next.wake;
    let stage = stage(trial, next.phase, next.message);
    steps.extend(next.step);
    (steps, stage, wake)
}

/// The record of the next trial, if what it needs has ended, and the node of that. A run that gave
/// its node away while its records found no room has kept this.
pub fn ended(
    run: &ValidatedRun,
    observed: &Observed,
    now: Timestamp,
) -> Option<(Step, Stage, String)> {
    let trial = without_record(run, observed)?;
    let (probe, _) = again::probes(observed, trial);
    let subject = subject_of(observed, trial).map(|subject| &subject.pod);
    let pod = probe.and_then(|probe| probe.pod.as_ref()).or(subject);
    let node = pod.filter(|pod| !pod.works())?.node.clone()?;
    let next = current(run, observed, trial, now);
    let stage = stage(trial, next.phase, next.message);
    Some((next.step.filter(Step::records)?, stage, node))
}

fn stage(trial: &TrialId, phase: TrialPhase, message: String) -> Stage {
    let trial = trial.clone();
    Stage::Measuring {
        trial,
        phase,
        message,
    }
}

fn without_record<'a>(run: &'a ValidatedRun, observed: &Observed) -> Option<&'a TrialId> {
    let mut planned = run.planned(observed.blocks).iter();
    planned.find(|trial| !observed.records.contains_key(trial))
}

/// Removes objects of trials that have their record, and objects of no trial.
fn leftovers(observed: &Observed, current: &TrialId) -> Vec<Step> {
    let probes = observed
        .probes
        .iter()
        .filter(|probe| probe.trial != *current);
    let subjects = observed
        .subjects
        .iter()
        .filter(|subject| subject.trial != *current)
        .chain(cold_start::leftovers(observed, current));
    removals(probes, subjects)
}

fn current(run: &ValidatedRun, observed: &Observed, trial: &TrialId, now: Timestamp) -> Next {
    let (probe, lost) = again::probes(observed, trial);
    if probe.is_none()
        && let Some(next) = again::before(observed, trial, &lost, now)
    {
        return next;
    }
    let again = !lost.is_empty();
    if trial.cell.point.probe_creates_pods() {
        let target = scaled::target_of(run, trial).filter(|_| probe.is_none());
        let before =
            target.and_then(|target| scaled::before_probe(run, observed, trial, target, now));
        return before.unwrap_or_else(|| cold_start::current(observed, trial, probe, again, now));
    }
    let next = with_subject(run, observed, trial, probe, again, now);
    match scaled::target_of(run, trial) {
        Some(_) => scaled::looked_at(next, now),
        None => next,
    }
}

/// The same for a trial whose subject the operator has made.
fn with_subject(
    run: &ValidatedRun,
    observed: &Observed,
    trial: &TrialId,
    probe: Option<&ObservedProbe>,
    again: bool,
    now: Timestamp,
) -> Next {
    match (subject_of(observed, trial), probe) {
        (None, None) => {
            if let Some(target) = scaled::target_of(run, trial) {
                return scaled::without_pod(run, observed, trial, target, now);
            }
            let wake = Wake::At(later(now, ready_timeout(run)));
            Next::preparing(trial, wake).by(Step::DeploySubject(trial.clone()))
        }
        (subject, Some(probe)) => under_probe(trial, subject, probe, now),
        (Some(subject), None) => match subject.pod.deleting {
            Some(since) => on_its_way_out(observed, trial, subject, since, now),
            None => before_probe(run, observed, trial, subject, again, now),
        },
    }
}

/// The subject exists and nothing measures it yet.
fn before_probe(
    run: &ValidatedRun,
    observed: &Observed,
    trial: &TrialId,
    subject: &ObservedSubject,
    again: bool,
    now: Timestamp,
) -> Next {
    let pod = &subject.pod;
    let deadline = since(pod.created, ready_timeout(run));
    if let Some(failure) = altered_pod::unfit(pod) {
        return fail(trial, failure, Some(subject));
    }
    match (&pod.state, pod.ip) {
        (PodState::Ended { .. }, _) => fail(trial, crashed(&pod.state), Some(subject)),
        (PodState::Running, Some(_)) if others_work(observed, trial) => {
            Next::preparing(trial, cold_start::wake(observed, now))
        }
        (PodState::Running, Some(address)) => {
            let step = Step::LaunchProbe {
                trial: trial.clone(),
                subject_uid: pod.uid.clone(),
                address,
                again,
            };
            Next::measuring(trial, Wake::At(later(now, PROBE_POD))).by(step)
        }
        (PodState::Pending(Some(waiting)), _) => match hopeless(waiting, pod.created, now) {
            Some(StuckPod::Fails(failure)) => fail(trial, failure, Some(subject)),
            Some(StuckPod::FailsAt(time)) => Next::preparing(trial, Wake::At(time)),
            None => until_deadline(trial, subject, deadline, now),
        },
        (PodState::Pending(None) | PodState::Running, _) => {
            until_deadline(trial, subject, deadline, now)
        }
    }
}

/// A probe exists: what it reports counts, as long as it can still report.
fn under_probe(
    trial: &TrialId,
    subject: Option<&ObservedSubject>,
    probe: &ObservedProbe,
    now: Timestamp,
) -> Next {
    if probe.deleting {
        return probe_on_its_way_out(trial, now);
    }
    let subject_altered = subject
        .and_then(|subject| altered_pod::altered(&subject.pod, FailureReason::SubjectAltered));
    if let Some(failure) = subject_altered.or_else(|| altered_probe(probe)) {
        return fail(trial, failure, subject);
    }
    if let Some(next) = ended_probe(trial, subject, probe) {
        return next;
    }
    match gone(subject, &probe.subject_uid) {
        Some(failure) => fail(trial, failure, subject),
        None => probe_running(trial, subject, probe, now),
    }
}

/// Why the pod that a probe was created for is no longer there.
fn gone(subject: Option<&ObservedSubject>, uid: &str) -> Option<Failure> {
    let lost = |message| Some(Failure::new(FailureReason::SubjectLost, message));
    let Some(subject) = subject else {
        return lost("the pod under test was deleted or evicted while it was measured");
    };
    // The probe was created for another pod of the same name: its target is gone.
    if subject.pod.uid != uid || subject.pod.deleting.is_some() {
        return lost("the pod under test was replaced while it was measured");
    }
    let ended = matches!(subject.pod.state, PodState::Ended { .. });
    ended.then(|| crashed(&subject.pod.state))
}

fn crashed(state: &PodState) -> Failure {
    crash_of(state)
        .unwrap_or_else(|| Failure::new(FailureReason::SubjectCrashed, "the container ended"))
}
