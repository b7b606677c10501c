//! What becomes of the pods of subjects and probes, whoever created them: what follows if one ends,
//! or does not go away.

use std::fmt::Write as _;

use jiff::{SignedDuration, Timestamp};
use wasmbench_model::quote::quotation;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::TrialId;

use crate::observed::{
    JobEnd, Observed, ObservedNode, ObservedPod, ObservedProbe, ObservedSubject, PodState, Waiting,
};
use crate::plan::next::Next;
use crate::plan::{Step, Wake, altered_pod};

/// Reason of a Job, or of a pod, that was stopped at its deadline.
const DEADLINE: &str = "DeadlineExceeded";

/// How long a pod may remain after it was deleted and has ended.
pub(super) const POD_GOES: SignedDuration = SignedDuration::from_secs(60);

/// How often to check whether such a pod has gone.
pub(super) const GOES_CHECK: SignedDuration = SignedDuration::from_secs(15);

/// Whether a pod was deleted and has ended, but has not gone for too long. That its node was not
/// ready does not count.
pub(super) fn stays(observed: &Observed, pod: &ObservedPod, now: Timestamp) -> bool {
    let back = node_of(observed, pod).and_then(|node| node.ready_changed);
    let since = pod
        .deleting
        .map(|since| back.map_or(since, |back| back.max(since)));
    !pod.works() && since.is_some_and(|since| now >= later(since, POD_GOES))
}

/// Whether somebody keeps such a pod. While its node is not ready, nobody can remove it.
pub(super) fn is_kept(observed: &Observed, pod: &ObservedPod, now: Timestamp) -> bool {
    node_of(observed, pod).is_none_or(|node| node.ready) && stays(observed, pod, now)
}

fn node_of<'a>(observed: &'a Observed, pod: &ObservedPod) -> Option<&'a ObservedNode> {
    let mut nodes = observed.nodes.iter();
    nodes.find(|node| pod.node.as_ref() == Some(&node.name))
}

/// A pod with the trial's name exists and must go.
pub(super) fn on_its_way_out(
    observed: &Observed,
    trial: &TrialId,
    subject: &ObservedSubject,
    since: Timestamp,
    now: Timestamp,
) -> Next {
    if is_kept(observed, &subject.pod, now) {
        return stayed(trial, subject, Some(subject));
    }
    let message = format!("waiting for an earlier pod of {trial} to go");
    let again = later(since, POD_GOES).max(later(now, GOES_CHECK));
    Next::waiting(message, Wake::At(again))
}

/// The subject of `trial`.
pub(super) fn subject_of<'a>(
    observed: &'a Observed,
    trial: &TrialId,
) -> Option<&'a ObservedSubject> {
    let mut subjects = observed.subjects.iter().chain(&observed.scaled_subjects);
    subjects.find(|subject| subject.trial == *trial)
}

/// A `pod` in the way of `trial` has ended but does not go away.
pub(super) fn stayed(
    trial: &TrialId,
    pod: &ObservedSubject,
    subject: Option<&ObservedSubject>,
) -> Next {
    let message = format!(
        "pod {} was deleted, has ended, and stays: see its metadata.finalizers, and remove what holds it",
        pod.pod.name
    );
    let failure = Failure::new(FailureReason::SubjectLost, message);
    fail(trial, failure, subject)
}

/// Whether pods of other trials are still working: even while terminating, they use the CPU.
pub(super) fn others_work(observed: &Observed, trial: &TrialId) -> bool {
    let made = observed.subjects.iter().chain(&observed.cold_subjects);
    let subjects = made.chain(&observed.scaled_subjects);
    let others = subjects.filter(|other| other.trial != *trial);
    let probes = observed.probes.iter().filter(|other| other.trial != *trial);
    others.map(|other| &other.pod).any(ObservedPod::works)
        || probes
            .filter_map(|other| other.pod.as_ref())
            .any(ObservedPod::works)
}

/// Removes what is not being deleted yet. Probes go first: a probe without its subject would report
/// errors that we caused.
pub(super) fn removals<'a>(
    probes: impl IntoIterator<Item = &'a ObservedProbe>,
    subjects: impl IntoIterator<Item = &'a ObservedSubject>,
) -> Vec<Step> {
    let of_probes = probes
        .into_iter()
        .filter(|probe| !probe.deleting)
        .map(|probe| Step::RemoveProbe {
            job: probe.job.clone(),
            uid: probe.uid.clone(),
        });
    let of_subjects = subjects
        .into_iter()
        .filter(|subject| subject.pod.deleting.is_none())
        .map(|subject| Step::remove_subject(&subject.pod));
    of_probes.chain(of_subjects).collect()
}

/// Why a probe is not believed, whether it still measures or has ended.
pub(super) fn altered_probe(probe: &ObservedProbe) -> Option<Failure> {
    let pod = probe.pod.as_ref()?;
    altered_pod::altered(pod, FailureReason::ProbeAltered)
}

/// What follows from a probe that has ended: a record.
pub(super) fn ended_probe(
    trial: &TrialId,
    subject: Option<&ObservedSubject>,
    probe: &ObservedProbe,
) -> Option<Next> {
    let stopped = matches!(&probe.end, Some(JobEnd::Failed(reason)) if reason == DEADLINE);
    if let Some(pod) = probe.pod.as_ref().filter(|pod| printed(pod, stopped)) {
        let step = Step::CollectRecord {
            trial: trial.clone(),
            probe_pod: pod.name.clone(),
            subject_pod: subject.map(|subject| subject.pod.name.clone()),
        };
        return Some(Next::recording(trial, step));
    }
    let Some(JobEnd::Failed(reason)) = &probe.end else {
        return None;
    };
    let failure = if stopped {
        let message = "the probe did not end within its deadline and was stopped".to_owned();
        Failure::new(FailureReason::ProbeDeadlineExceeded, message)
    } else {
        let message = format!("the probe's Job failed ({reason}) and its pod is gone");
        Failure::new(FailureReason::ProbeFailed, message)
    };
    Some(fail(trial, failure, subject))
}

/// An earlier probe of the trial must go.
pub(super) fn probe_on_its_way_out(trial: &TrialId, now: Timestamp) -> Next {
    let message = format!("waiting for an earlier probe of {trial} to go");
    Next::waiting(message, Wake::At(later(now, GOES_CHECK)))
}

/// Whether a probe's pod ended by itself, so that its log is complete. One that was `stopped` at
/// its deadline has an exit code too, but not 0.
fn printed(pod: &ObservedPod, stopped: bool) -> bool {
    matches!(
        &pod.state,
        PodState::Ended { exit_code: Some(code), reason, .. }
            if reason != DEADLINE && (*code == 0 || !stopped)
    )
}

pub(super) fn fail(trial: &TrialId, failure: Failure, subject: Option<&ObservedSubject>) -> Next {
    let reason = failure.reason.clone();
    let step = Step::RecordFailure {
        trial: trial.clone(),
        failure,
        subject_pod: subject.map(|subject| subject.pod.name.clone()),
    };
    let mut next = Next::recording(trial, step);
    let _ = write!(next.message, " as failed: {reason}");
    next
}

pub(super) fn because(state: &PodState) -> String {
    match state {
        PodState::Pending(Some(Waiting { reason, message })) if message.is_empty() => {
            format!(" ({reason})")
        }
        PodState::Pending(Some(Waiting { reason, message })) => {
            format!(" ({reason}: {})", quotation(message))
        }
        PodState::Pending(None) | PodState::Running | PodState::Ended { .. } => String::new(),
    }
}

/// When the time allowed to an object ends. Its creation time is known only to the second, rounded
/// down.
pub(super) fn since(created: Timestamp, allowed: SignedDuration) -> Timestamp {
    later(later(created, SignedDuration::from_secs(1)), allowed)
}

pub(super) fn later(time: Timestamp, by: SignedDuration) -> Timestamp {
    time.checked_add(by).unwrap_or(Timestamp::MAX)
}
