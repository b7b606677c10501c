//! Density in words: the sweep, and where climbs ended.

use wasmbench_api::density::Density;
use wasmbench_model::units::cut;
use wasmbench_model::wire::density::DensityStopReason;

use crate::cells::density::{DensityCell, DensityEnd};

/// Longest message about why a climb ended, in characters.
const MAX_MESSAGE_CHARS: usize = 200;

/// The sweep in one sentence.
pub fn sweep(sweep: &Density) -> String {
    let steps: Vec<String> = sweep.ladder().iter().map(u32::to_string).collect();
    format!(
        "density: {} instances at once, {} requests to the first at each step; stops below {} % of \
         available memory or when a step takes more than {} s",
        steps.join(", "),
        sweep.requests,
        sweep.stop.available_memory_percent,
        sweep.stop.timeout_seconds
    )
}

/// The climbs that ended early, one sentence per step and reason.
pub fn ended(cell: &DensityCell) -> Vec<String> {
    let sentence = |end: &DensityEnd| {
        let why = match end.reason {
            DensityStopReason::MemoryLow => "the node has too little memory available",
            DensityStopReason::NoRoom => "the scheduler has no room",
            DensityStopReason::Refused => "the API server refuses more pods",
            DensityStopReason::TooSlow => "not all answered in time",
            DensityStopReason::InstanceEnded => "an instance ended",
        };
        let (variant, reached, planned, trials) =
            (&cell.variant, end.reached, end.planned, end.trials);
        let message = cut(&end.message, MAX_MESSAGE_CHARS);
        format!(
            "{variant}: stopped at {reached} of {planned} instances in {trials} block(s), on the \
             way to {}: {why} ({message})",
            end.at
        )
    };
    cell.detail.stopped.iter().map(sentence).collect()
}
