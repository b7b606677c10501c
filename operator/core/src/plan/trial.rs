//! One trial at a time: a fresh subject, one probe, a record. Whatever belongs to another trial is
//! removed, but only once that trial's record has been seen.

use jiff::{SignedDuration, Timestamp};

use crate::observed::{Observed, PodState, ProbeSeen, SubjectSeen, Waiting};
use crate::outcome::crash_of;
use crate::plan::failure::{Failure, FailureReason};
use crate::plan::pods::{
    Next, POD_GOES, StuckPod, altered_probe, because, ended_probe, fail, hopeless, later,
    others_work, probe_running, removals, since, stayed, stays,
};
use crate::plan::{Stage, Step, Wake, cold_start, target};
use crate::progress_message;
use crate::validate::ValidatedRun;
use crate::waiting::no_image;
use crate::wire::record::TrialId;

/// How often to check whether such a pod has gone.
const GOES_CHECK: SignedDuration = SignedDuration::from_secs(15);
/// How long the echo server may take to start running.
const UPSTREAM_START: SignedDuration = SignedDuration::from_secs(120);

/// What to do for the first trial without a record.
pub fn next(run: &ValidatedRun, seen: &Observed, now: Timestamp) -> (Vec<Step>, Stage, Wake) {
    let Some(trial) = run
        .planned(seen.blocks)
        .iter()
        .find(|trial| !seen.records.contains_key(trial))
    else {
        return (vec![], Stage::Summarising, Wake::Now);
    };
    let mut steps = leftovers(seen, trial);
    let (step, message, wake) = match upstream(run, seen, trial, now) {
        Upstream::Ready => current(run, seen, trial, now),
        Upstream::Start => (
            Some(Step::StartUpstream),
            "starting the echo server".to_owned(),
            Wake::At(later(now, UPSTREAM_START)),
        ),
        Upstream::Wait(until) => (
            None,
            "waiting for the echo server".to_owned(),
            Wake::At(until),
        ),
        Upstream::Failed(failure) => fail(trial, failure, subject_of(seen, trial)),
    };
    let recording = matches!(
        step,
        Some(Step::RecordFailure { .. } | Step::CollectRecord { .. })
    );
    steps.extend(step);
    let stage = Stage::Measuring {
        trial: trial.clone(),
        message,
    };
    (steps, stage, if recording { Wake::Now } else { wake })
}

/// Removes objects of trials that have their record, and objects that no trial knows.
fn leftovers(seen: &Observed, current: &TrialId) -> Vec<Step> {
    let probes = seen.probes.iter().filter(|probe| probe.trial != *current);
    let subjects = seen.subjects.iter();
    let subjects = subjects.filter(|subject| subject.trial != *current);
    removals(probes, subjects.chain(cold_start::leftovers(seen, current)))
}

enum Upstream {
    Ready,
    Start,
    Wait(Timestamp),
    Failed(Failure),
}

/// The echo server lives as long as the run: it is the same for all variants.
fn upstream(run: &ValidatedRun, seen: &Observed, trial: &TrialId, now: Timestamp) -> Upstream {
    if !run.has_upstream(trial) {
        return Upstream::Ready;
    }
    let Some(pod) = &seen.upstream else {
        return Upstream::Start;
    };
    let deadline = since(pod.created, UPSTREAM_START);
    if let Some(failure) = target::altered(pod, FailureReason::UpstreamUnavailable) {
        return Upstream::Failed(failure);
    }
    match &pod.state {
        PodState::Running if pod.ip.is_some() && pod.deleting.is_none() => Upstream::Ready,
        PodState::Ended { .. } => Upstream::Failed(Failure::new(
            FailureReason::UpstreamUnavailable,
            "the echo server ended: see its pod's log, and the upstream image in the chart",
        )),
        _ if now < deadline => Upstream::Wait(deadline),
        state @ (PodState::Pending(_) | PodState::Running) => Upstream::Failed(Failure::new(
            FailureReason::UpstreamUnavailable,
            format!(
                "the echo server did not run within {UPSTREAM_START:#}{}: check the upstream image \
                 in the chart",
                because(state)
            ),
        )),
    }
}

fn current(run: &ValidatedRun, seen: &Observed, trial: &TrialId, now: Timestamp) -> Next {
    let probe = seen.probes.iter().find(|probe| probe.trial == *trial);
    if trial.cell.point.probe_creates_pods() {
        return cold_start::current(seen, trial, probe, now);
    }
    match (subject_of(seen, trial), probe) {
        (None, None) => (
            Some(Step::DeploySubject(trial.clone())),
            progress_message::preparing(trial),
            Wake::At(later(now, ready_timeout(run))),
        ),
        (subject, Some(probe)) => under_probe(trial, subject, probe, now),
        (Some(subject), None) => match subject.pod.deleting {
            Some(since) => on_its_way_out(seen, trial, subject, since, now),
            None => before_probe(run, seen, trial, subject, now),
        },
    }
}

/// A pod with the trial's name exists and must go.
fn on_its_way_out(
    seen: &Observed,
    trial: &TrialId,
    subject: &SubjectSeen,
    since: Timestamp,
    now: Timestamp,
) -> Next {
    if stays(seen, &subject.pod, now) {
        return stayed(trial, subject, Some(subject));
    }
    let message = format!("waiting for an earlier pod of {trial} to go");
    let again = later(since, POD_GOES).max(later(now, GOES_CHECK));
    (None, message, Wake::At(again))
}

fn subject_of<'a>(seen: &'a Observed, trial: &TrialId) -> Option<&'a SubjectSeen> {
    seen.subjects.iter().find(|subject| subject.trial == *trial)
}

/// The subject exists and nothing measures it yet.
fn before_probe(
    run: &ValidatedRun,
    seen: &Observed,
    trial: &TrialId,
    subject: &SubjectSeen,
    now: Timestamp,
) -> Next {
    let pod = &subject.pod;
    let deadline = since(pod.created, ready_timeout(run));
    if let Some(failure) = target::unfit(pod) {
        return fail(trial, failure, Some(subject));
    }
    match (&pod.state, pod.ip) {
        (PodState::Ended { .. }, _) => fail(trial, crashed(&pod.state), Some(subject)),
        (PodState::Running, Some(_)) if others_work(seen, trial) => {
            let wake = cold_start::wake(seen, now);
            (None, progress_message::preparing(trial), wake)
        }
        (PodState::Running, Some(address)) => {
            let step = Step::LaunchProbe {
                trial: trial.clone(),
                subject_uid: pod.uid.clone(),
                address,
            };
            (
                Some(step),
                progress_message::measuring(trial),
                Wake::OnChange,
            )
        }
        (PodState::Pending(Some(waiting)), _) => match hopeless(waiting, pod.created, now) {
            Some(StuckPod::Fails(failure)) => fail(trial, failure, Some(subject)),
            Some(StuckPod::FailsAt(time)) => {
                (None, progress_message::preparing(trial), Wake::At(time))
            }
            None => until_deadline(trial, subject, deadline, now),
        },
        (PodState::Pending(None) | PodState::Running, _) => {
            until_deadline(trial, subject, deadline, now)
        }
    }
}

fn ready_timeout(run: &ValidatedRun) -> SignedDuration {
    SignedDuration::from_secs(i64::from(run.spec.subject_ready_timeout_seconds))
}

fn until_deadline(
    trial: &TrialId,
    subject: &SubjectSeen,
    deadline: Timestamp,
    now: Timestamp,
) -> Next {
    if now < deadline {
        return (None, progress_message::preparing(trial), Wake::At(deadline));
    }
    let state = &subject.pod.state;
    if let PodState::Pending(Some(Waiting { reason, message })) = state
        && reason == "ErrImagePull"
    {
        let failure = Failure::new(FailureReason::ImageUnavailable, no_image(reason, message));
        return fail(trial, failure, Some(subject));
    }
    let message = format!(
        "the pod did not run within spec.subjectReadyTimeoutSeconds{}: see 'kubectl describe pod', \
         and whether the node's container runtime knows the RuntimeClass",
        because(state)
    );
    let failure = Failure::new(FailureReason::StartTimedOut, message);
    fail(trial, failure, Some(subject))
}

/// A probe exists: what it reports counts, as long as it can still report.
fn under_probe(
    trial: &TrialId,
    subject: Option<&SubjectSeen>,
    probe: &ProbeSeen,
    now: Timestamp,
) -> Next {
    if probe.deleting {
        return (
            None,
            format!("waiting for an earlier probe of {trial} to go"),
            Wake::OnChange,
        );
    }
    let subject_altered =
        subject.and_then(|subject| target::altered(&subject.pod, FailureReason::SubjectAltered));
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
fn gone(subject: Option<&SubjectSeen>, uid: &str) -> Option<Failure> {
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
