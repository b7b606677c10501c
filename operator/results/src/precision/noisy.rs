//! Ratios that are missing because the node was noisy. They must not make a run look precise: with more
//! blocks, of which fewer are noisy, they come back.

use wasmbench_api::run::TWIN;
use wasmbench_core::wire::record::Point;

use crate::all_cells::Cells;
use crate::any_cell::AnyCell;
use crate::comparison::Comparison;
use crate::curve::knee;
use crate::doubt::Reason;
use crate::precision::width::Width;

/// A width without a value for every ratio that is missing for no other reason than that the node was noisy in too
/// many trials of one of its two points.
pub fn noisy(cells: &Cells, baseline: &str, compared: &[Comparison]) -> Vec<Width> {
    let of_cell = |cell: &dyn AnyCell| {
        let mut bases = cells.all().filter(|_| competes(cell.variant(), baseline));
        let base = bases.find(|base| base.variant() == baseline && is_same_point(*base, cell))?;
        let noisy = [cell, base].into_iter().find(|cell| is_noisy(*cell))?;
        let may_count = |cell: &dyn AnyCell| cell.is_ranked() || is_noisy(cell);
        let is_there = compared.iter().any(|found| is_of(found, cell));
        let is_missing = may_count(cell) && may_count(base) && !is_there;
        (is_missing && is_asked_for(cells, base)).then(|| Width {
            variant: cell.variant().to_owned(),
            workload: cell.workload().to_owned(),
            what: format!(
                "{} versus {baseline} (too many trials of {} on a noisy node)",
                what(cell),
                noisy.variant()
            ),
            relative: None,
        })
    };
    cells.all().filter_map(of_cell).collect()
}

/// The first measure of a cell, and where it is.
fn what(cell: &dyn AnyCell) -> String {
    let series = cell.series();
    let first = series.first().map(|(metric, _)| metric.noun());
    format!("{} of {}", first.unwrap_or("numbers"), cell.place())
}

fn competes(variant: &str, baseline: &str) -> bool {
    variant != baseline && variant != TWIN
}

/// Whether noise is all that speaks against a point.
fn is_noisy(cell: &dyn AnyCell) -> bool {
    cell.invalid_because() == [Reason::NodeNoisy]
}

fn is_same_point(one: &dyn AnyCell, other: &dyn AnyCell) -> bool {
    one.workload() == other.workload() && one.point() == other.point()
}

fn is_of(found: &Comparison, cell: &dyn AnyCell) -> bool {
    found.variant == cell.variant()
        && found.workload == cell.workload()
        && found.point == cell.point()
}

/// Of a throughput sweep only the baseline's knee is compared; without a valid point it may be anywhere.
fn is_asked_for(cells: &Cells, base: &dyn AnyCell) -> bool {
    let knee = knee(&cells.loads, base.variant(), base.workload());
    match base.point() {
        Point::Throughput { .. } => knee.is_none_or(|knee| knee.point() == base.point()),
        Point::WarmLatency | Point::OpenLoop { .. } | Point::ColdStart { .. } | Point::Density => {
            true
        }
    }
}
