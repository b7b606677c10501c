//! The cells of all sweeps of a run.

use strum::IntoEnumIterator as _;
use wasmbench_core::wire::evidence::Kind;

use crate::any_cell::AnyCell;
use crate::cell::CellSummary;
use crate::coldstart::ColdStartCell;
use crate::density::DensityCell;

/// The cells of all sweeps of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Cells of loads.
    pub loads: Vec<CellSummary>,
    /// Cells of cold starts.
    pub cold_starts: Vec<ColdStartCell>,
    /// Cells of density.
    pub density: Vec<DensityCell>,
}

impl Cells {
    /// All cells, in the order of a summary.
    pub fn all(&self) -> impl Iterator<Item = &dyn AnyCell> {
        all(&self.loads, &self.cold_starts, &self.density).map(CellOf::any)
    }
}

/// A cell together with its kind.
#[derive(Clone, Copy, Debug)]
pub enum CellOf<'a> {
    /// A cell of a load.
    Load(&'a CellSummary),
    /// A cell of cold starts.
    ColdStart(&'a ColdStartCell),
    /// A cell of density.
    Density(&'a DensityCell),
}

impl<'a> CellOf<'a> {
    /// Returns what all kinds have in common.
    pub fn any(self) -> &'a dyn AnyCell {
        match self {
            Self::Load(cell) => cell,
            Self::ColdStart(cell) => cell,
            Self::Density(cell) => cell,
        }
    }

    /// Returns the cell if it is one of a load.
    pub fn load(self) -> Option<&'a CellSummary> {
        match self {
            Self::Load(cell) => Some(cell),
            Self::ColdStart(_) | Self::Density(_) => None,
        }
    }

    /// Returns the cell if it is one of cold starts.
    pub fn cold_start(self) -> Option<&'a ColdStartCell> {
        match self {
            Self::ColdStart(cell) => Some(cell),
            Self::Load(_) | Self::Density(_) => None,
        }
    }

    /// Returns the cell if it is one of density.
    pub fn density(self) -> Option<&'a DensityCell> {
        match self {
            Self::Density(cell) => Some(cell),
            Self::Load(_) | Self::ColdStart(_) => None,
        }
    }
}

/// The cells of all sweeps as one sequence.
pub fn all<'a>(
    loads: &'a [CellSummary],
    cold_starts: &'a [ColdStartCell],
    density: &'a [DensityCell],
) -> impl Iterator<Item = CellOf<'a>> {
    Kind::iter().flat_map(move |kind| -> Vec<CellOf<'a>> {
        match kind {
            Kind::Load => loads.iter().map(CellOf::Load).collect(),
            Kind::ColdStart => cold_starts.iter().map(CellOf::ColdStart).collect(),
            Kind::Density => density.iter().map(CellOf::Density).collect(),
        }
    })
}
