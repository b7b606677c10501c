//! Loads that still became faster or slower within the timed windows, because compilers, caches or
//! the node had not settled.

use wasmbench_model::units;

use crate::cells::steady;
use crate::doubts::{Doubt, Evidence, Reason, places};
use crate::vocabulary::minimum::minimum_effect;

/// Points whose rate has a trend.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let effect = minimum_effect(evidence.spec);
    let places = places(&evidence.cells.loads, |cell| {
        let trend = steady::trend(&cell.detail.trials).filter(|_| cell.ranked)?;
        let is_faster = trend.estimate > 0.0;
        let way = if is_faster { "faster" } else { "slower" };
        let size = units::excess(libm::exp(trend.estimate.abs()));
        let text = || format!("{} ({size} {way} in their second half)", cell.place());
        steady::moves(&trend, effect).then(text)
    })?;
    Some(crate::doubts::doubt(
        Reason::NotSteady,
        format!("the rate moved within the timed windows: {places}"),
        "raise warmupSeconds or warmupRequests of the sweep until it does not",
    ))
}
