//! The cells of all sweeps of a run.

use crate::any_cell::AnyCell;
use crate::cell::CellSummary;
use crate::coldstart::ColdStartCell;
use crate::density::DensityCell;

/// The cells of all sweeps of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Those of loads.
    pub loads: Vec<CellSummary>,
    /// Those of cold starts.
    pub cold_starts: Vec<ColdStartCell>,
    /// Those of density.
    pub density: Vec<DensityCell>,
}

impl Cells {
    /// All of them, in the order of a summary.
    pub fn all(&self) -> impl Iterator<Item = &dyn AnyCell> {
        all(&self.loads, &self.cold_starts, &self.density)
    }
}

/// The cells of all sweeps as one sequence.
pub fn all<'a>(
    loads: &'a [CellSummary],
    cold_starts: &'a [ColdStartCell],
    density: &'a [DensityCell],
) -> impl Iterator<Item = &'a dyn AnyCell> {
    let loads = loads.iter().map(|cell| cell as &dyn AnyCell);
    let cold_starts = cold_starts.iter().map(|cell| cell as &dyn AnyCell);
    let density = density.iter().map(|cell| cell as &dyn AnyCell);
    loads.chain(cold_starts).chain(density)
}
