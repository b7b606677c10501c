//! Which cells of density are invalid, and what speaks against the numbers.

use super::super::against::Against;
use super::super::doubts::counts;
use super::super::quality::Doubt;
use super::DensityCell;

/// What stands before places.
const OF: &str = "density of ";

/// Adds to each cell the reasons why it is no part of comparisons.
pub fn mark(cells: &mut [DensityCell], against: Against<'_>) {
    for cell in cells {
        let is_measured = cell.counts.valid + cell.counts.invalid > 0;
        let of_run = against.reasons(&cell.variant, &cell.workload);
        cell.invalid_because = of_run.filter(|_| is_measured).collect();
    }
}

/// What speaks against the numbers. A climb that stopped early is none of it: the steps that it
/// reached count.
pub fn doubts(cells: &[DensityCell]) -> Vec<Doubt> {
    let points = || cells.iter().map(|cell| (cell.place(), cell.counts));
    let found = [
        counts::trials_failed(OF, points()),
        counts::incomplete(OF, points()),
    ];
    found.into_iter().flatten().collect()
}
