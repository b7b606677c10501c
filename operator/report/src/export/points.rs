//! The numbers that other programs get: those of valid points, each with the reasons to distrust
//! it.

use std::collections::BTreeSet;

use wasmbench_api::run::TWIN;
use wasmbench_results::cells::any::AnyCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::trust;
use wasmbench_results::vocabulary::cell::ByBlock;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

/// A valid point with its numbers.
pub struct ValidPoint<'a> {
    /// The cell of the point.
    pub cell: AnyCell<'a>,
    /// Its measures, with the number of each valid block; every number is finite.
    pub series: Vec<(Metric, ByBlock)>,
    /// Why not to trust the numbers, although they are valid.
    pub untrusted: BTreeSet<Reason>,
}

/// The valid points of a run, in the order of its summary. They exclude the baseline's twin, which
/// is an instrument.
pub fn valid(summary: &Summary) -> Vec<ValidPoint<'_>> {
    let effect = summary.compared.minimum_effect.map_or(0.0, libm::log1p);
    let of_run: BTreeSet<Reason> = trust::of_run(summary).collect();
    let cells = summary.all_cells();
    let valid = cells.filter(|cell| cell.ranked && cell.variant != TWIN);
    valid
        .map(|cell| ValidPoint {
            cell,
            series: finite(cell.detail.series()),
            untrusted: cell
                .untrusted_because(effect)
                .into_iter()
                .chain(of_run.clone())
                .collect(),
        })
        .collect()
}

/// Removes numbers that are not finite, and measures that have none left.
fn finite(mut series: Vec<(Metric, ByBlock)>) -> Vec<(Metric, ByBlock)> {
    for (_, by_block) in &mut series {
        by_block.retain(|_, number| number.is_finite());
    }
    series.retain(|(_, by_block)| !by_block.is_empty());
    series
}
