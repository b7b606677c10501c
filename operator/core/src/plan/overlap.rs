//! Late probes: those that an operator launched although another one had taken over from it. The API
//! server refuses them, but it learns of the takeover a moment later, and not at all without the
//! admission policies. Such a probe is removed, by the run that holds its node, so that this run knows
//! which of its trials it disturbed: the one that has no record yet is measured again.

use jiff::Timestamp;

use crate::observed::{LateProbe, Observed, ObservedLease};
use crate::plan::{LEFT_CHECK, Stage, Step, Wake, pods, remove_everything};

/// Whether the run with this uid removes the `late` probe: one on the node that it holds, or its own on
/// a node that nobody holds.
pub fn is_to_remove(late: &LateProbe, run_uid: &str, leases: &[ObservedLease]) -> bool {
    let mut claims = leases.iter().filter(|lease| lease.node == late.node);
    let holder = claims.find_map(|lease| lease.holder.as_deref());
    holder.unwrap_or(&late.run_uid) == run_uid
}

/// What comes first on the node that the run holds, if a late probe is there. Nothing starts before it is
/// gone.
pub(super) fn next(observed: &Observed, now: Timestamp) -> Option<(Vec<Step>, Stage, Wake)> {
    let late = observed.late.first()?;
    let message = format!(
        "waiting until Job {} is gone, which an operator launched that another one had replaced; the \
         trial is measured again",
        late.job
    );
    let wake = Wake::At(pods::later(now, LEFT_CHECK));
    Some((remove_everything(observed), Stage::Queued { message }, wake))
}

/// Removes what is not being deleted yet.
pub(super) fn removals(observed: &Observed) -> impl Iterator<Item = Step> {
    let left = observed.late.iter().filter(|late| !late.deleting);
    left.map(|late| Step::RemoveProbe {
        job: late.job.clone(),
        uid: late.uid.clone(),
    })
}
