//! Where climbs ended, in words.

use wasmbench_model::quote::shorten;
use wasmbench_model::wire::density::DensityStopReason;

use crate::cells::density::{DensityCell, DensityEnd};

/// Longest message about why a climb ended, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// The climbs that ended early, one sentence per step and reason.
pub fn ended(cell: &DensityCell) -> Vec<String> {
    let message = |end: &DensityEnd| {
        let why = match end.reason {
            DensityStopReason::MemoryLow => "the node has too little memory available",
            DensityStopReason::NoRoom => "the scheduler has no room",
            DensityStopReason::Refused => "the API server refuses more pods",
            DensityStopReason::TooSlow => "not all answered in time",
            DensityStopReason::InstanceEnded => "an instance ended",
        };
        let (variant, reached, planned, trials) =
            (&cell.variant, end.reached, end.planned, end.trials);
        let message = shorten(&end.message, MAX_MESSAGE_CHARS);
        format!(
            "{variant}: stopped at {reached} of {planned} instances in {trials} block(s), on the \
             way to {}: {why} ({message})",
            end.at
        )
    };
    cell.detail.stopped.iter().map(message).collect()
}
