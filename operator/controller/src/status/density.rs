//! Density in the rows of the status.

use wasmbench_api::status::DensityStatus;
use wasmbench_report::validity::invalid;
use wasmbench_results::cells::density::DensityCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::measure::Metric;

use crate::status::judged::judged;

/// The density of a variant; `None` where nothing was measured.
pub fn status(summary: &Summary, cell: &DensityCell) -> Option<DensityStatus> {
    if cell.counts.valid == 0 && cell.invalid_because.is_empty() {
        return None;
    }
    let found = summary.comparison(cell.any(), Metric::MemoryPerInstance);
    Some(DensityStatus {
        trials: cell.counts.valid,
        failed_trials: cell.counts.unused(),
        invalid: invalid(&cell.invalid_because),
        instances: cell.detail.steps.last().map_or(0, |step| step.instances),
        stopped_trials: cell.detail.stopped.iter().map(|end| end.trials).sum(),
        bytes_per_instance: cell.detail.bytes_per_instance.map(|spread| spread.median),
        judged: found.map(judged),
    })
}
