//! Capacity in the rows of the status.

use wasmbench_api::status::{CapacityStatus, RungStatus};
use wasmbench_model::units::truncate;
use wasmbench_report::validity::invalid;
use wasmbench_results::cells::capacity::{CapacityCell, RungSummary};
use wasmbench_results::statistics::OneSided;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::Metric;

use crate::status::judged::judged;

/// Longest text about what limits did, in characters.
const MAX_LIMITED_CHARS: usize = 256;

/// The capacity of a variant; `None` where nothing was measured.
pub fn status(summary: &Summary, cell: &CapacityCell) -> Option<CapacityStatus> {
    if cell.counts.valid == 0 && cell.invalid_because.is_empty() {
        return None;
    }
    let climbs = &cell.detail;
    let found = summary.comparison(cell.any(), Metric::Capacity);
    let limited = climbs.limits.text();
    Some(CapacityStatus {
        trials: cell.counts.valid,
        failed_trials: cell.counts.unused(),
        invalid: invalid(&cell.invalid_because),
        target_p99_microseconds: climbs.target_p99_microseconds,
        rps: climbs.rps.median,
        rps_low: climbs.rps.low,
        rps_high: climbs.rps.high,
        below_trials: climbs.beyond(OneSided::AtMost),
        above_trials: climbs.beyond(OneSided::AtLeast),
        limited: limited.map(|text| truncate(&text, MAX_LIMITED_CHARS)),
        rungs: climbs.rungs.iter().filter_map(rung).collect(),
        judged: found.map(judged),
    })
}

/// A rung; `None` if no block shows anything of it.
fn rung(rung: &RungSummary) -> Option<RungStatus> {
    Some(RungStatus {
        requested_rps: rung.requested_rps,
        p99_microseconds: rung.p99_microseconds?.median,
        trials: rung.trials,
        met_trials: rung.met,
    })
}
