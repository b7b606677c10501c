//! Loads on a schedule in the rows of the status.

use wasmbench_api::status::OpenLoopPoint;
use wasmbench_model::wire::open_loop::Rate;
use wasmbench_report::validity::invalid;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::{Metric, Sweep};

use crate::status::judged::judged;

/// The points of a row, by rate.
pub fn points_of_row(summary: &Summary, cells: &[&LoadCell]) -> Vec<OpenLoopPoint> {
    let of_sweep = cells
        .iter()
        .filter(|cell| cell.detail.sweep == Sweep::OpenLoop);
    of_sweep.filter_map(|cell| point(summary, cell)).collect()
}

fn point(summary: &Summary, cell: &LoadCell) -> Option<OpenLoopPoint> {
    let found = cell.detail.open_loop?;
    let rate = cell.detail.rate?;
    let compared = summary.comparison(cell.any(), Metric::OpenLoopP99);
    Some(OpenLoopPoint {
        percent_of_peak: rate.percent_of_peak(),
        trials: cell.counts.valid,
        failed_trials: cell.counts.unused(),
        invalid: invalid(&cell.invalid_because),
        requested_rps: match rate {
            Rate::Rps(rps) => f64::from(rps),
            Rate::PercentOfPeak(_) => found.requested_rps.median,
        },
        achieved_percent: (found.achieved_share_min * 1000.0).floor() / 10.0,
        p50_microseconds: found.p50_microseconds.median,
        p99_microseconds: found.p99_microseconds.median,
        service_p99_microseconds: cell.detail.p99_microseconds?.median,
        p99_not_carried: !cell.detail.p99_carried,
        judged: compared.map(judged),
    })
}
