//! Variants that answer differently from each other, or from what is expected.

use crate::cells::load::LoadCell;
use crate::doubts::{Doubt, Evidence, MAX_ITEMS, Reason, listed};
use crate::vocabulary::trial_reason::TrialReason;

pub(super) fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let mismatches = evidence.mismatches.iter();
    let differ = mismatches.map(|m| format!("on {}, {}", m.workload, m.message));
    let mistaken = evidence.cells.loads.iter().filter(|cell| {
        cell.detail.trials.iter().any(|trial| {
            let reason = trial.reason.as_ref();
            let failure = reason.filter(|reason| matches!(reason, TrialReason::Failure(_)));
            failure.and_then(TrialReason::doubt) == Some(Reason::ResponseMismatch)
        })
    });
    let wrong = mistaken.map(|cell| format!("{} gave a wrong answer", cell.place()));
    let others = evidence.cells.loads.iter().filter_map(other_sizes);
    let message = listed(differ.chain(wrong).chain(others), MAX_ITEMS, "; ")?;
    Some(super::doubt(
        Reason::ResponseMismatch,
        message,
        "these points are not compared; make all variants give the right answer, or correct \
         spec.workloads[].expect",
    ))
}

/// The message that answers under load had another size than the right one; `None` where they may.
fn other_sizes(cell: &LoadCell) -> Option<String> {
    let mut trials = cell.detail.trials.iter();
    let before = trials.find_map(|trial| {
        let is_wrong = trial.reason == Some(TrialReason::Doubt(Reason::ResponseMismatch));
        trial.metrics.other_bytes_before.filter(|_| is_wrong)
    })?;
    let bytes = cell.detail.traffic.as_ref()?.answer_bytes?;
    let place = cell.place();
    let sizes = if bytes.min == bytes.max {
        bytes.min.to_string()
    } else {
        format!("{} to {}", bytes.min, bytes.max)
    };
    Some(format!(
        "{place} gave answers of {sizes} bytes under load, and one of {before} before it"
    ))
}
