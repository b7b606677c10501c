//! Loads that still got faster, or slower, within the timed windows: compilers, caches or the node had not settled.

use wasmbench_core::units;

use crate::any_cell::AnyCell as _;
use crate::cell::CellSummary;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed};
use crate::ratios::minimum_effect;
use crate::steady;

/// Points whose rate has a trend.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let effect = minimum_effect(evidence.spec);
    let place = |cell: &CellSummary| {
        let trend = steady::trend(&cell.trials).filter(|trend| steady::moves(trend, effect))?;
        let (size, way) = (libm::exp(trend.estimate.abs()), trend.estimate > 0.0);
        let way = if way { "faster" } else { "slower" };
        let size = units::excess(size);
        Some(format!(
            "{} ({size} {way} in their second half)",
            cell.place()
        ))
    };
    let ranked = evidence.cells.loads.iter().filter(|cell| cell.ranked);
    let places = listed(ranked.filter_map(place), MAX_PLACES, ", ")?;
    Some(crate::doubts::doubt(
        Reason::NotSteady,
        format!("the rate moved within the timed windows: {places}"),
        "raise warmupSeconds or warmupRequests of the sweep until it does not",
    ))
}
