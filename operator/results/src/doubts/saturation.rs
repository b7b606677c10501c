//! Points at which the load generator limits the rate and not the subject.

use crate::cells::load::saturation::{is_saturated, text};
use crate::doubts::{Doubt, Evidence, Reason, places};

/// The points at which the generator was saturated.
pub(super) fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        is_saturated(&cell.detail).then(|| format!("{} ({})", cell.place(), text(&cell.detail)))
    })?;
    Some(crate::doubts::doubt(
        Reason::LoadGeneratorSaturated,
        places,
        "these points are not compared: they measure the load generator; use fewer connections, \
         heavier requests or a node with more CPUs",
    ))
}
