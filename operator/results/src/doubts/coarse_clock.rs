//! Loads whose latencies were told apart too badly.

use crate::any_cell::AnyCell;
use crate::cell::CellSummary;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed};

/// Points that are invalid because the median of a trial is a guess.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let is_coarse = |cell: &&CellSummary| cell.invalid_because.contains(&Reason::ClockTooCoarse);
    let cells = evidence.cells.loads.iter().filter(is_coarse);
    let places = listed(cells.map(AnyCell::place), MAX_PLACES, ", ")?;
    Some(crate::doubts::doubt(
        Reason::ClockTooCoarse,
        format!(
            "the median lies in a bucket of the histogram that is wider than half of it, or the node's \
             clock source counts ticks: {places}"
        ),
        "these points are not compared; if clockSource in environment.json is jiffies, give the node a \
         better clock, else run again: the buckets are chosen by a calibration that something disturbed",
    ))
}
