//! A variant whose pod is made by an object that is there already: the run scales it up for a trial and
//! back to 0 after it, notes that in its claim before, and leaves alone what its owner has taken back.
//! Whoever makes the pod is not watched, so the run looks often.

use jiff::{SignedDuration, Timestamp};
use wasmbench_api::status::TrialPhase;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::TrialId;

use crate::observed::{Observed, ObservedSubject};
use crate::plan::next::Next;
use crate::plan::pod_start::ready_timeout;
use crate::plan::pods::{fail, later};
use crate::plan::{Step, Wake};
use crate::scale::{ObservedTarget, Return, Target};
use crate::validate::ValidatedRun;

/// How often to look while such an object is on its way up or down.
const CHECK: SignedDuration = SignedDuration::from_secs(1);

/// The object that makes the pod of `trial`.
pub(super) fn target_of<'a>(run: &'a ValidatedRun, trial: &TrialId) -> Option<&'a Target> {
    run.variant(trial)?.subject.target.as_ref()
}

/// When to look again at an object on its way.
pub(super) fn check(now: Timestamp) -> Wake {
    Wake::At(later(now, CHECK))
}

/// Whether the run has nothing to bring back: no object, or one of which nothing is left.
pub(super) fn is_at_rest(observed: &Observed, now: Timestamp) -> bool {
    let noted = observed.scaled();
    noted.is_none_or(|(scaled, found)| found.to_return(scaled, now) == Return::Forget)
}

/// The pods of the noted object, unless its owner has taken it back.
pub(super) fn subjects(observed: &Observed) -> &[ObservedSubject] {
    let noted = observed.scaled();
    let is_runs = noted.is_some_and(|(scaled, found)| found.taken_back(scaled).is_none());
    if is_runs {
        &observed.scaled_subjects
    } else {
        &[]
    }
}

/// What brings the noted object back, unless that only has to be waited for. The note itself goes with
/// the claim, or before the next trial.
pub(super) fn scale_down(observed: &Observed) -> Option<Step> {
    let (scaled, found) = observed.scaled()?;
    found.is_up(scaled).then(|| Step::ScaleDown {
        target: Box::new(scaled.target.clone()),
        resource_version: found.resource_version,
    })
}

/// What comes before anything else of `trial`: an object of an earlier one goes back to 0, and one
/// that its owner has taken back in this trial ends it.
pub(super) fn before(observed: &Observed, trial: &TrialId, now: Timestamp) -> Option<Next> {
    let (scaled, found) = observed.scaled()?;
    if scaled.trial == *trial {
        let why = found.taken_back(scaled)?;
        let message = format!(
            "{why} while the run was using it: it is its owner's again and left alone; have it offered again, and \
             create a new run"
        );
        let failure = Failure::new(FailureReason::TakenBack, message);
        return Some(fail(trial, failure, subject(observed)));
    }
    let message = format!("waiting until {} is back at 0 replicas", scaled.target);
    let waiting = Next::waiting(message, check(now));
    Some(match found.to_return(scaled, now) {
        Return::ScaleDown => waiting.by(scale_down(observed)?),
        Return::Wait => waiting,
        Return::Forget => waiting.by(Step::ForgetTarget),
    })
}

/// What to do while `trial` has neither a pod nor a probe.
pub(super) fn without_pod(
    run: &ValidatedRun,
    observed: &Observed,
    trial: &TrialId,
    target: &Target,
    now: Timestamp,
) -> Next {
    let found = observed.targets.get(target).cloned().unwrap_or_default();
    if let Some((scaled, _)) = observed.scaled()
        && found.replicas > 0
        && now >= later(scaled.since, ready_timeout(run))
    {
        return too_late(trial, target);
    }
    if let Some(next) = on_its_way(trial, target, &found, now) {
        return next;
    }
    Next::preparing(trial, check(now)).by(Step::ScaleUp {
        trial: trial.clone(),
        target: Box::new(target.clone()),
        found: Box::new(found),
    })
}

/// What is waited for before an object can make the pods of `trial`, if it is not at rest.
fn on_its_way(
    trial: &TrialId,
    target: &Target,
    found: &ObservedTarget,
    now: Timestamp,
) -> Option<Next> {
    if found.replicas > 0 {
        return Some(Next::preparing(trial, check(now)));
    }
    let message = if found.pods > 0 {
        // Its owner's last ones, or those of an attempt that was interrupted.
        format!("waiting until the earlier pods of {target} are gone")
    } else if found.is_settling {
        format!("waiting until the controller of {target} has seen its last change")
    } else {
        return None;
    };
    Some(Next::waiting(message, check(now)))
}

/// Its controller was asked for a pod and has not made it: a quota or a policy may refuse it.
fn too_late(trial: &TrialId, target: &Target) -> Next {
    let message = format!(
        "{target} got no pod within spec.subjectReadyTimeoutSeconds: see 'kubectl describe {target}' and the events \
         of what it owns"
    );
    let failure = Failure::new(FailureReason::StartTimedOut, message);
    fail(trial, failure, None)
}

/// What comes before the probe of `trial` that scales the object itself: the note, and what a killed probe has
/// left of it.
pub(super) fn before_probe(
    run: &ValidatedRun,
    observed: &Observed,
    trial: &TrialId,
    target: &Target,
    now: Timestamp,
) -> Option<Next> {
    let found = observed.targets.get(target).cloned().unwrap_or_default();
    let preparing = Next::preparing(trial, check(now));
    if let Some(step) = scale_down(observed) {
        return Some(preparing.by(step));
    }
    if let Some(next) = on_its_way(trial, target, &found, now) {
        return Some(next);
    }
    if observed.scaled().is_some() {
        return None;
    }
    let sweep = run.spec.sweeps.density.as_ref();
    let ladder = sweep.and_then(|sweep| sweep.ladder().last().copied());
    // A density trial has no number of its own.
    let most = trial.cell.point.number().or(ladder).unwrap_or(1);
    Some(preparing.by(Step::NoteTarget {
        trial: trial.clone(),
        target: Box::new(target.clone()),
        found: Box::new(found),
        most,
    }))
}

/// The `next` of a trial whose pod somebody else makes: whatever it waits for is looked at often, as
/// long as nothing measures.
pub(super) fn looked_at(next: Next, now: Timestamp) -> Next {
    let is_measuring = next.phase == TrialPhase::Measuring;
    if next.step.is_some() || is_measuring {
        return next;
    }
    Next {
        wake: check(now),
        ..next
    }
}

fn subject(observed: &Observed) -> Option<&ObservedSubject> {
    observed.scaled_subjects.first()
}
