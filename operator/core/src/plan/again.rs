//! A probe that ended well, but whose pod was removed before its log was read: node drains and
//! cleaners of ended pods do that while the operator is away. Its trial has no record and is
//! measured once more, by a Job of another name; the first Job stays until then, to remember it.

use jiff::Timestamp;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::TrialId;

use crate::observed::{Observed, ObservedProbe};
use crate::plan::next::Next;
use crate::plan::pods::{fail, on_its_way_out, subject_of};
use crate::plan::{Step, Wake, scaled};

/// How many results of a trial may be lost.
const MOST: usize = 2;

/// The probe of `trial` that may still report, and those whose results are lost.
pub(super) fn probes<'a>(
    observed: &'a Observed,
    trial: &TrialId,
) -> (Option<&'a ObservedProbe>, Vec<&'a ObservedProbe>) {
    let mine = observed.probes.iter().filter(|probe| probe.trial == *trial);
    let (lost, others): (Vec<_>, Vec<_>) = mine.partition(|probe| probe.is_lost());
    (others.first().copied(), lost)
}

/// What comes before `trial` is measured once more, if its result was `lost`.
pub(super) fn before(
    observed: &Observed,
    trial: &TrialId,
    lost: &[&ObservedProbe],
    now: Timestamp,
) -> Option<Next> {
    let subject = subject_of(observed, trial);
    if lost.len() >= MOST {
        let message = format!(
            "the probe ended, but its pod was removed before its log was read, {MOST} times: let \
             nothing remove ended pods in the operator's namespace"
        );
        let failure = Failure::new(FailureReason::ProbeFailed, message);
        return Some(fail(trial, failure, subject));
    }
    // A trial has a fresh subject.
    let subject = subject?;
    let used = lost
        .iter()
        .any(|probe| probe.subject_uid == subject.pod.uid);
    match subject.pod.deleting {
        _ if !used => None,
        Some(since) => Some(on_its_way_out(observed, trial, subject, since, now)),
        None => {
            let message = format!("measuring {trial} again: its result was removed");
            if observed.scaled_subjects.contains(subject) {
                let waiting = Next::waiting(message, scaled::check(now));
                let step = scaled::scale_down(observed);
                return Some(Next { step, ..waiting });
            }
            let step = Step::remove_subject(&subject.pod);
            Some(Next::waiting(message, Wake::Now).by(step))
        }
    }
}
