//! Density in the rows of the status.

use wasmbench_api::run::TWIN;
use wasmbench_api::status::{DensityStatus, SummaryRow};
use wasmbench_results::density::DensityCell;
use wasmbench_results::measure::Metric;
use wasmbench_results::summary::Summary;

use crate::rows::invalid;

/// `rows` with what is known of density, and further rows for those that have nothing else.
pub fn rows(summary: &Summary, mut rows: Vec<SummaryRow>) -> Vec<SummaryRow> {
    let measured = summary.density.iter();
    let is_told = |cell: &&DensityCell| cell.counts.valid > 0 || !cell.invalid_because.is_empty();
    for cell in measured.filter(|cell| cell.variant != TWIN).filter(is_told) {
        let mine =
            |row: &&mut SummaryRow| row.variant == cell.variant && row.workload == cell.workload;
        if let Some(row) = rows.iter_mut().find(mine) {
            row.density = Some(status(summary, cell));
        } else {
            rows.push(SummaryRow {
                variant: cell.variant.clone(),
                workload: cell.workload.clone(),
                density: Some(status(summary, cell)),
                ..SummaryRow::default()
            });
        }
    }
    rows
}

fn status(summary: &Summary, cell: &DensityCell) -> DensityStatus {
    let found = summary.comparison(cell, Metric::MemoryPerInstance);
    DensityStatus {
        trials: cell.counts.valid,
        failed_trials: cell.counts.invalid + cell.counts.failed + cell.counts.skipped,
        invalid: invalid(&cell.invalid_because),
        instances: cell.steps.last().map_or(0, |step| step.instances),
        stopped_trials: cell.stopped.iter().map(|end| end.trials).sum(),
        bytes_per_instance: cell.bytes_per_instance.map(|spread| spread.median),
        primary: found.is_some_and(|found| found.primary),
        ratio: found.map(|found| found.estimate.ratio),
        low: found.and_then(|found| found.estimate.low),
        high: found.and_then(|found| found.estimate.high),
        verdict: found.map(|found| <&str>::from(found.verdict).to_owned()),
        untrusted: found.and_then(|found| invalid(&found.untrusted)),
    }
}
