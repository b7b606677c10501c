//! Rates that still moved when the timed window began: compilers, caches or the node had not settled.

use crate::any_cell::AnyCell;
use crate::cell::CellSummary;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed, note};

/// Points of which trials began before their warm-up came to rest.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let place = |cell: &CellSummary| {
        let (unsettled, valid) = (cell.unsettled_trials, cell.counts.valid);
        (unsettled > 0).then(|| format!("{} ({unsettled} of {valid} trials)", cell.place()))
    };
    let places = listed(
        evidence.cells.loads.iter().filter_map(place),
        MAX_PLACES,
        ", ",
    )?;
    Some(note(
        Reason::WarmupNotSettled,
        format!("the rate still moved after three times the warm-up: {places}"),
        "raise warmupSeconds of the sweep, or choose a quieter node",
    ))
}
