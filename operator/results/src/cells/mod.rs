//! The cells of all sweeps of a run: one variant under one workload at one point, over all blocks.
//!
//! Reading order: [`recorded`] (the trials of each cell), [`variant_validity`] (what speaks against
//! all cells of a variant), [`load`] with [`open_loop`], [`steady`] and [`curve`], [`capacity`], [`payload`],
//! [`coldstart`] and [`density`], [`any`] (a cell of any of them).

pub mod any;
pub mod capacity;
pub mod coldstart;
pub mod curve;
pub mod density;
pub mod load;
mod noisy_trials;
pub mod open_loop;
pub mod payload;
pub mod recorded;
pub mod steady;
mod tail;
pub mod variant_validity;

use std::collections::BTreeMap;

use strum::IntoEnumIterator as _;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::wire::evidence::Kind;
use wasmbench_model::wire::record::TrialId;

use crate::cells::any::AnyCell;
use crate::cells::capacity::CapacityCell;
use crate::cells::coldstart::ColdStartCell;
use crate::cells::density::DensityCell;
use crate::cells::load::LoadCell;
use crate::cells::payload::PayloadCell;
use crate::cells::variant_validity::VariantValidity;
use crate::read::observation::Observation;

/// The cells of all sweeps of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cells {
    /// Cells of loads.
    pub loads: Vec<LoadCell>,
    /// Cells of capacity.
    pub capacity: Vec<CapacityCell>,
    /// Cells of payload.
    pub payload: Vec<PayloadCell>,
    /// Cells of cold starts.
    pub cold_starts: Vec<ColdStartCell>,
    /// Cells of density.
    pub density: Vec<DensityCell>,
}

impl Cells {
    /// The cells of a run with this spec, with the reasons why they are invalid.
    pub fn new(
        spec: &BenchmarkRunSpec,
        observations: &BTreeMap<TrialId, Observation>,
        validity: VariantValidity<'_>,
    ) -> Self {
        let ceilings = load::ceilings(observations);
        let recorded = recorded::recorded(spec, observations);
        let each = || recorded.iter();
        let loads = each().filter_map(|one| load::cell(spec, one, validity, &ceilings));
        let capacity = each().filter_map(|one| capacity::cell(spec, one, validity));
        let payload = each().filter_map(|one| payload::cell(spec, one, validity));
        let cold_starts = each().filter_map(|one| coldstart::cell(spec, one, validity));
        let density = each().filter_map(|one| density::cell(spec, one, validity));
        Self {
            loads: loads.collect(),
            capacity: capacity.collect(),
            payload: payload.collect(),
            cold_starts: cold_starts.collect(),
            density: density.collect(),
        }
    }

    /// All cells, in the order of a summary.
    pub fn all(&self) -> impl Iterator<Item = AnyCell<'_>> {
        all(
            &self.loads,
            &self.capacity,
            &self.payload,
            &self.cold_starts,
            &self.density,
        )
    }
}

/// The cells of all sweeps as one sequence.
pub fn all<'a>(
    loads: &'a [LoadCell],
    capacity: &'a [CapacityCell],
    payload: &'a [PayloadCell],
    cold_starts: &'a [ColdStartCell],
    density: &'a [DensityCell],
) -> impl Iterator<Item = AnyCell<'a>> {
    Kind::iter().flat_map(move |kind| -> Vec<AnyCell<'_>> {
        match kind {
            Kind::Load => {
                let mut cells: Vec<AnyCell<'_>> = loads.iter().map(LoadCell::any).collect();
                cells.extend(capacity.iter().map(CapacityCell::any));
                cells.extend(payload.iter().map(PayloadCell::any));
                cells
            }
            Kind::ColdStart => cold_starts.iter().map(ColdStartCell::any).collect(),
            Kind::Density => density.iter().map(DensityCell::any).collect(),
            // It has no numbers.
            Kind::Scout => vec![],
        }
    })
}
