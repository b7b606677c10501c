//! The throughput curve of a variant: where its rate is highest, and where it bends.

use crate::cells::load::LoadCell;
use crate::vocabulary::measure::Sweep;

/// The share of the peak's rate that a knee reaches. The missing tenth is more than medians
/// scatter, so the knee stays the same from run to run, and too small a gain to load a service
/// several times as much.
pub const KNEE_SHARE: f64 = 0.9;

/// The ranked throughput point of a variant with the highest median rate; among equal rates, the
/// one with the fewest connections.
pub fn peak<'a>(cells: &'a [LoadCell], variant: &str, workload: &str) -> Option<&'a LoadCell> {
    loaded(cells, variant, workload).reduce(|best, cell| {
        if median_rate(cell) > median_rate(best) {
            cell
        } else {
            best
        }
    })
}

/// The ranked throughput point with the fewest connections that reaches [`KNEE_SHARE`] of the
/// peak's median rate: the subject is busy, and more connections would mostly queue.
pub fn knee<'a>(cells: &'a [LoadCell], variant: &str, workload: &str) -> Option<&'a LoadCell> {
    let enough = KNEE_SHARE * median_rate(peak(cells, variant, workload)?);
    loaded(cells, variant, workload)
        .filter(|cell| median_rate(cell) >= enough)
        .min_by_key(|cell| cell.detail.connections)
}

fn loaded<'a>(
    cells: &'a [LoadCell],
    variant: &str,
    workload: &str,
) -> impl Iterator<Item = &'a LoadCell> {
    cells.iter().filter(move |c| {
        c.ranked && c.detail.sweep == Sweep::Throughput && c.is_of(variant, workload)
    })
}

fn median_rate(cell: &LoadCell) -> f64 {
    cell.detail.rps.map_or(0.0, |rps| rps.median)
}
