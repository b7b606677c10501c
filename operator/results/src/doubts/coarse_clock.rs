//! Loads whose latencies were resolved too coarsely.

use crate::doubts::{Doubt, Evidence, Reason, places};

/// Points that are invalid because the median of a trial is a guess.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        cell.is_invalid_by(Reason::ClockTooCoarse)
            .then(|| cell.place())
    })?;
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
