//! Ratios that are missing because the node was noisy. They must not make a run look precise: with more
//! blocks, of which fewer are noisy, they come back.

use wasmbench_api::run::TWIN;

use super::super::compare::Comparison;
use super::super::curve::knee;
use super::super::quality::Reason;
use super::super::summary::{CellSummary, Sweep};
use super::Width;

/// A width without a value for every ratio of loads that is missing for no other reason than that the
/// node was noisy in too many trials of one of its two points.
pub fn noisy(cells: &[CellSummary], baseline: &str, compared: &[Comparison]) -> Vec<Width> {
    let of_cell = |cell: &CellSummary| {
        let mut bases = cells.iter().filter(|_| competes(cell, baseline));
        let base = bases.find(|base| base.variant == baseline && same_point(base, cell))?;
        let noisy = [cell, base].into_iter().find(|cell| is_noisy(cell))?;
        let may_count = |cell: &CellSummary| cell.ranked || is_noisy(cell);
        let is_there = compared.iter().any(|found| is_of(found, cell));
        let is_missing = may_count(cell) && may_count(base) && !is_there;
        (is_missing && is_asked_for(cells, base)).then(|| Width {
            variant: cell.variant.clone(),
            workload: cell.workload.clone(),
            what: format!(
                "{} versus {baseline} (too many trials of {} on a noisy node)",
                cell.place(),
                noisy.variant
            ),
            relative: None,
        })
    };
    cells.iter().filter_map(of_cell).collect()
}

fn competes(cell: &CellSummary, baseline: &str) -> bool {
    cell.variant != baseline && cell.variant != TWIN
}

/// Whether noise is all that speaks against a point.
fn is_noisy(cell: &CellSummary) -> bool {
    cell.invalid_because == [Reason::NodeNoisy]
}

fn same_point(one: &CellSummary, other: &CellSummary) -> bool {
    let point = |c: &CellSummary| (c.sweep, c.connections, c.percent_of_peak);
    one.workload == other.workload && point(one) == point(other)
}

fn is_of(found: &Comparison, cell: &CellSummary) -> bool {
    found.variant == cell.variant
        && found.workload == cell.workload
        && found.sweep == cell.sweep
        && found.percent_of_peak == cell.percent_of_peak
}

/// Of a throughput sweep only the baseline's knee is compared; without a valid point it may be anywhere.
fn is_asked_for(cells: &[CellSummary], base: &CellSummary) -> bool {
    let knee = knee(cells, &base.variant, &base.workload);
    base.sweep != Sweep::Throughput || knee.is_none_or(|knee| knee.connections == base.connections)
}
