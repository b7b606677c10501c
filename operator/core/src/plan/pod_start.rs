//! How long the pods of subjects and probes may take to start, and what follows if they do not.

use jiff::{SignedDuration, Timestamp};
use wasmbench_model::quote::quotation;
use wasmbench_model::waiting::{self, Hopeless, no_image};
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::TrialId;

use crate::observed::{ObservedProbe, ObservedSubject, PodState, Waiting};
use crate::plan::Wake;
use crate::plan::next::Next;
use crate::plan::pods::{because, fail, since};
use crate::validate::ValidatedRun;

/// How long the scheduler may report "does not fit": the previous subject may still be terminating.
const UNSCHEDULABLE_GRACE: SignedDuration = SignedDuration::from_secs(20);

/// How long a probe's Job may be without a pod: whatever refuses the pod does so at once, and the
/// Job controller tries again and again.
pub(super) const PROBE_POD: SignedDuration = SignedDuration::from_secs(45);

/// How long a probe's pod may take to start running. Its image was pulled for an earlier trial, or
/// is being pulled now.
const PROBE_START: SignedDuration = SignedDuration::from_secs(180);

/// A pod that waits for a reason that more waiting will not fix.
pub(super) enum StuckPod {
    /// The trial fails now.
    Fails(Failure),
    /// The trial fails then, unless the pod was scheduled before.
    FailsAt(Timestamp),
}

/// What follows if a pod waits for a reason that more waiting will not fix; `None` for other
/// reasons.
pub(super) fn hopeless(waiting: &Waiting, created: Timestamp, now: Timestamp) -> Option<StuckPod> {
    let Waiting { reason, message } = waiting;
    if reason == "Unschedulable" {
        let until = since(created, UNSCHEDULABLE_GRACE);
        let message = format!(
            "{}: free resources on the node or lower the requests in resources",
            quotation(message)
        );
        let failure = Failure::new(FailureReason::Unschedulable, message);
        return Some(if now < until {
            StuckPod::FailsAt(until)
        } else {
            StuckPod::Fails(failure)
        });
    }
    let (what, message) = waiting::hopeless(reason, message)?;
    let kind = match what {
        Hopeless::Image => FailureReason::ImageUnavailable,
        Hopeless::Container => FailureReason::SubjectNotStarted,
    };
    Some(StuckPod::Fails(Failure::new(kind, message)))
}

/// How long a subject may take to run.
pub(super) fn ready_timeout(run: &ValidatedRun) -> SignedDuration {
    SignedDuration::from_secs(i64::from(run.spec.subject_ready_timeout_seconds))
}

/// What happens to a subject that does not run yet, until it no longer may.
pub(super) fn until_deadline(
    trial: &TrialId,
    subject: &ObservedSubject,
    deadline: Timestamp,
    now: Timestamp,
) -> Next {
    if now < deadline {
        return Next::preparing(trial, Wake::At(deadline));
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
         and whether the node's container runtime is configured for the RuntimeClass",
        because(state)
    );
    let failure = Failure::new(FailureReason::StartTimedOut, message);
    fail(trial, failure, Some(subject))
}

/// What happens to a probe that has not ended.
pub(super) fn probe_running(
    trial: &TrialId,
    subject: Option<&ObservedSubject>,
    probe: &ObservedProbe,
    now: Timestamp,
) -> Next {
    let measuring = Next::measuring(trial, Wake::OnChange);
    let Some(pod) = &probe.pod else {
        return without_pod(trial, subject, probe, now);
    };
    let PodState::Pending(waiting) = &pod.state else {
        return measuring;
    };
    let deadline = since(pod.created, PROBE_START);
    let stuck = waiting
        .as_ref()
        .and_then(|waiting| hopeless(waiting, pod.created, now));
    match stuck {
        Some(StuckPod::Fails(Failure { message, .. })) => {
            let message = format!("the probe's pod does not start: {message}");
            fail(
                trial,
                Failure::new(FailureReason::ProbeNotStarted, message),
                subject,
            )
        }
        Some(StuckPod::FailsAt(time)) => Next::measuring(trial, Wake::At(time)),
        // No wake-up for the deadline, because it could fall into a long timed window: a pod that
        // never starts ends at its Job's deadline at the latest.
        None if now < deadline => measuring,
        None => {
            let message = format!(
                "the probe's pod did not run within {PROBE_START:#}{}: see 'kubectl describe pod' \
                 in the operator's namespace",
                because(&pod.state)
            );
            fail(
                trial,
                Failure::new(FailureReason::ProbeNotStarted, message),
                subject,
            )
        }
    }
}

/// The probe's Job has no pod yet.
fn without_pod(
    trial: &TrialId,
    subject: Option<&ObservedSubject>,
    probe: &ObservedProbe,
    now: Timestamp,
) -> Next {
    let deadline = since(probe.created, PROBE_POD);
    if now < deadline {
        return Next::measuring(trial, Wake::At(deadline));
    }
    let message = format!(
        "the probe's Job got no pod within {PROBE_POD:#}: see 'kubectl describe job' in the \
         operator's namespace"
    );
    let failure = Failure::new(FailureReason::ProbeNotStarted, message);
    fail(trial, failure, subject)
}
