//! Windows that lasted much longer than requested.

use crate::doubts::{self, Doubt, Evidence, Reason, places};

/// Points whose rate contains a stall.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let factor = cell.detail.overrun?;
        Some(format!("{} ({factor:.1} times as long)", cell.place()))
    })?;
    Some(doubts::doubt(
        Reason::WindowOverran,
        format!("windows lasted longer than requested: {places}"),
        "a window ends with the last answer, so some answers took seconds: raise durationSeconds to many times the \
         time of an answer, use fewer connections, or look for what the service waits for",
    ))
}
