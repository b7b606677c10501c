//! Ratios that are missing because the node was noisy. They must not make a run look precise: with more
//! blocks, of which fewer are noisy, they come back.

use wasmbench_api::run::TWIN;

use crate::cell::CellSummary;
use crate::coldstart::ColdStartCell;
use crate::comparison::Comparison;
use crate::curve::knee;
use crate::density::DensityCell;
use crate::doubt::Reason;
use crate::measure::Sweep;
use crate::precision::width::Width;

/// A width without a value for every ratio of loads that is missing for no other reason than that the
/// node was noisy in too many trials of one of its two points.
pub fn noisy(cells: &[CellSummary], baseline: &str, compared: &[Comparison]) -> Vec<Width> {
    let of_cell = |cell: &CellSummary| {
        let mut bases = cells.iter().filter(|_| competes(&cell.variant, baseline));
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

fn competes(variant: &str, baseline: &str) -> bool {
    variant != baseline && variant != TWIN
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

/// A point of a sweep that is no load.
struct Unit<'a> {
    /// What is compared.
    what: &'static str,
    /// What was measured on a noisy node.
    parts: &'static str,
    variant: &'a str,
    workload: &'a str,
    /// Pods at once; 0 for density.
    concurrency: u32,
    place: String,
    is_ranked: bool,
    is_noisy: bool,
}

/// A width without a value for every ratio of cold starts and of density that is missing for the same reason.
pub fn noisy_units(
    cold_starts: &[ColdStartCell],
    density: &[DensityCell],
    baseline: &str,
) -> Vec<Width> {
    let cold = cold_starts.iter().map(|cell| Unit {
        what: "cold start",
        parts: "samples",
        variant: &cell.variant,
        workload: &cell.workload,
        concurrency: cell.concurrency,
        place: cell.place(),
        is_ranked: cell.is_ranked(),
        is_noisy: cell.invalid_because == [Reason::NodeNoisy],
    });
    let density = density.iter().map(|cell| Unit {
        what: "memory per instance",
        parts: "climbs",
        variant: &cell.variant,
        workload: &cell.workload,
        concurrency: 0,
        place: cell.place(),
        is_ranked: cell.is_ranked(),
        is_noisy: cell.invalid_because == [Reason::NodeNoisy],
    });
    let all: Vec<Unit<'_>> = cold.chain(density).collect();
    let competitors = all.iter().filter(|unit| competes(unit.variant, baseline));
    competitors
        .filter_map(|unit| unit.missing(&all, baseline))
        .collect()
}

impl Unit<'_> {
    /// The width that is missing because this point or the baseline's is noisy and nothing else.
    fn missing(&self, all: &[Self], baseline: &str) -> Option<Width> {
        let mut bases = all.iter().filter(|base| base.variant == baseline);
        let base = bases.find(|base| base.same_point(self))?;
        let noisy = [self, base].into_iter().find(|unit| unit.is_noisy)?;
        let may_count = |unit: &Self| unit.is_ranked || unit.is_noisy;
        (may_count(self) && may_count(base)).then(|| Width {
            variant: self.variant.to_owned(),
            workload: self.workload.to_owned(),
            what: format!(
                "{} of {} versus {baseline} (too many {} of {} on a noisy node)",
                self.what, self.place, self.parts, noisy.variant
            ),
            relative: None,
        })
    }

    fn same_point(&self, other: &Self) -> bool {
        let point = |unit: &Self| (unit.what, unit.concurrency);
        self.workload == other.workload && point(self) == point(other)
    }
}
