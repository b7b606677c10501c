//! Points that the earlier run has and the later one lost: it planned to measure them but has no
//! valid number for them. Ratios cannot show this, since there are none.

use wasmbench_api::run::TWIN;
use wasmbench_model::wire::record::Cell;

use crate::cells::any::AnyCell;
use crate::runs::across::Lost;
use crate::runs::across::numbers::Sample;
use crate::summary::Summary;
use crate::vocabulary::measure::Metric;

/// Points of `later` for which the `earlier` run has a number and the later one has none. A point
/// that has some numbers left is not lost: a service that got faster leaves windows too short to
/// read CPU and memory. Nor is one above its ladder. The baseline's twin does not count either,
/// because it is no competitor.
pub fn lost(later: &Summary, earlier: &[Sample], numbers: &[Sample]) -> Vec<Lost> {
    let has = |samples: &[Sample], cell: &Cell| samples.iter().any(|one| one.cell == *cell);
    let cells = later.all_cells().filter(|cell| !is_above_ladder(cell));
    let competitors = cells
        .map(|cell| cell.cell())
        .filter(|cell| cell.variant != TWIN);
    let lost = competitors.filter(|cell| has(earlier, cell) && !has(numbers, cell));
    lost.map(|cell| Lost {
        point: cell.point.to_string(),
        variant: cell.variant,
        workload: cell.workload,
    })
    .collect()
}

/// Whether a capacity has no number because it lies above its ladder: in some blocks even the last rung
/// met the target, and in none did the first one miss it. It may have become larger.
fn is_above_ladder(cell: &AnyCell<'_>) -> bool {
    let ends = cell.detail.ends(Metric::Capacity);
    cell.ranked && !ends.is_empty() && ends.values().all(|[least, _]| *least > 0.0)
}

/// Whether `later` has a record of a lost point. Without one, a run that goes on may only not have come to it yet.
pub fn is_recorded(lost: &Lost, later: &Summary) -> bool {
    let is_it = |cell: &AnyCell<'_>| {
        cell.is_of(&lost.variant, &lost.workload) && cell.point.to_string() == lost.point
    };
    let found = later.all_cells().find(is_it);
    found.is_some_and(|cell| cell.counts.missing < cell.counts.planned)
}
