//! Points of an open loop at which the subject could not keep up with the schedule.

use crate::cells::open_loop::{OpenLoopSummary, achieved};
use crate::doubts::{Doubt, Evidence, Reason, places};

/// Points that lost their rate.
pub(super) fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let found = cell
            .detail
            .open_loop
            .filter(OpenLoopSummary::lost_the_rate)?;
        let kept = achieved(found.achieved_share_min);
        Some(format!("{} (kept {kept} of it)", cell.place()))
    })?;
    Some(super::doubt(
        Reason::RateNotAchieved,
        places,
        "these points are not compared: the subject had less load than requested; request a lower \
         rate if it cannot keep up, use heavier requests (on a schedule the generator needs more CPU time), or a \
         quieter node",
    ))
}
