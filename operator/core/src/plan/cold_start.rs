//! A cold-start trial: one probe, which creates and removes the pods under test itself. The
//! operator only cleans up after a probe that could not.

use jiff::{SignedDuration, Timestamp};
use wasmbench_model::wire::record::TrialId;

use crate::observed::{Observed, ObservedProbe, ObservedSubject};
use crate::plan::next::Next;
use crate::plan::pod_start::{PROBE_POD, probe_running};
use crate::plan::pods::{
    GOES_CHECK, altered_probe, ended_probe, fail, is_kept, later, others_work,
    probe_on_its_way_out, stayed,
};
use crate::plan::{Step, Wake, again};

/// How often to check whether leftovers are gone. Cold subjects are not watched: their creation and
/// removal would wake the operator in the middle of every sample. Nor are pods of others.
const LEFTOVERS_CHECK: SignedDuration = SignedDuration::from_secs(1);

/// When to look again whether what must go is gone.
pub fn wake(observed: &Observed, now: Timestamp) -> Wake {
    let all_watched = observed.cold_subjects.is_empty() && observed.scaled().is_none();
    let check = if all_watched {
        GOES_CHECK
    } else {
        LEFTOVERS_CHECK
    };
    Wake::At(later(now, check))
}

/// Cold subjects that no living probe of `current` will remove.
pub fn leftovers<'a>(
    observed: &'a Observed,
    current: &'a TrialId,
) -> impl Iterator<Item = &'a ObservedSubject> {
    let (probe, _) = again::probes(observed, current);
    let has_probe = probe.is_some();
    let subjects = observed.cold_subjects.iter();
    subjects.filter(move |subject| !(has_probe && subject.trial == *current))
}

/// Pods with the trial's names exist and must go.
fn on_their_way_out(observed: &Observed, trial: &TrialId, now: Timestamp) -> Next {
    let is_in_the_way =
        |cold: &&ObservedSubject| cold.trial == *trial && is_kept(observed, &cold.pod, now);
    match observed.cold_subjects.iter().find(is_in_the_way) {
        Some(subject) => stayed(trial, subject, None),
        None => Next::preparing(trial, wake(observed, now)),
    }
}

/// What to do for a cold-start trial whose record has not been seen; `again` if it is measured once
/// more.
pub fn current(
    observed: &Observed,
    trial: &TrialId,
    probe: Option<&ObservedProbe>,
    again: bool,
    now: Timestamp,
) -> Next {
    match probe {
        None if others_work(observed, trial) => Next::preparing(trial, wake(observed, now)),
        // Pods of the same names must be gone before new ones are created.
        None if observed
            .cold_subjects
            .iter()
            .any(|cold| cold.trial == *trial) =>
        {
            on_their_way_out(observed, trial, now)
        }
        None => {
            let step = Step::LaunchColdStart {
                trial: trial.clone(),
                again,
            };
            Next::measuring(trial, Wake::At(later(now, PROBE_POD))).by(step)
        }
        Some(probe) if probe.deleting => probe_on_its_way_out(trial, now),
        Some(probe) => match altered_probe(probe) {
            Some(failure) => fail(trial, failure, None),
            None => ended_probe(trial, None, probe)
                .unwrap_or_else(|| probe_running(trial, None, probe, now)),
        },
    }
}
