//! The cells of a run with what was recorded for each, in the same way for all sweeps.

use std::collections::BTreeMap;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::Variant;
use wasmbench_model::cells::cells_of;
use wasmbench_model::wire::record::{Cell, Outcome, TrialId};

use crate::read::observation::Observation;
use crate::vocabulary::counts::TrialCounts;

/// A cell with its trials.
pub struct Recorded<'a> {
    /// Which cell.
    pub cell: Cell,
    /// Its variant.
    pub variant: &'a Variant,
    /// What was recorded, by block.
    pub trials: Vec<(u32, &'a Observation)>,
    /// Blocks that the spec requests.
    planned: u32,
}

/// Every cell of the run, by workload, then variant, then point, in the order of the spec.
pub fn recorded<'a>(
    spec: &'a BenchmarkRunSpec,
    observations: &'a BTreeMap<TrialId, Observation>,
) -> Vec<Recorded<'a>> {
    let workload = |cell: &Cell| spec.workloads.iter().position(|w| w.name == cell.workload);
    let variant = |cell: &Cell| spec.variants.iter().position(|v| v.name == cell.variant);
    let mut cells = cells_of(spec);
    cells.sort_by_key(|cell| (workload(cell), variant(cell), cell.point));
    cells.dedup();
    let recorded = |cell: Cell| {
        let trial = |block| {
            let cell = cell.clone();
            Some((block, observations.get(&TrialId { cell, block })?))
        };
        Some(Recorded {
            variant: spec.variants.get(variant(&cell)?)?,
            trials: (1..=spec.blocks).filter_map(trial).collect(),
            planned: spec.blocks,
            cell,
        })
    };
    cells.into_iter().filter_map(recorded).collect()
}

impl<'a> Recorded<'a> {
    /// The measured trials by block, if they have the requested `numbers`.
    pub fn measured<T>(&self, numbers: fn(&Observation) -> Option<&T>) -> BTreeMap<u32, &'a T> {
        let measured = self
            .trials
            .iter()
            .filter(|(_, observed)| observed.is_measured());
        let found = measured.filter_map(|(block, observed)| Some((*block, numbers(observed)?)));
        found.collect()
    }

    /// How the trials ended, and the trials whose numbers are shown: the valid ones among
    /// `measured`, or all of them if none is valid.
    pub fn shown<'t, T>(
        &self,
        measured: &BTreeMap<u32, &'t T>,
        is_valid: impl Fn(&T) -> bool,
    ) -> (TrialCounts, BTreeMap<u32, &'t T>) {
        let mut shown = measured.clone();
        shown.retain(|_, trial| is_valid(trial));
        let counts = self.counts(|block| shown.contains_key(&block));
        if shown.is_empty() {
            shown.clone_from(measured);
        }
        (counts, shown)
    }

    /// How the trials ended. Measured trials in blocks that are not valid count as invalid.
    pub fn counts(&self, is_valid: impl Fn(u32) -> bool) -> TrialCounts {
        let mut counts = TrialCounts {
            planned: self.planned,
            missing: self.planned,
            ..TrialCounts::default()
        };
        for (block, observed) in &self.trials {
            counts.missing -= 1;
            let was_repeated = observed.load().is_some_and(|load| load.discarded.is_some());
            counts.repeated += u32::from(was_repeated);
            match &observed.ended {
                Outcome::Measured if is_valid(*block) => counts.valid += 1,
                Outcome::Measured => counts.invalid += 1,
                Outcome::Failed { .. } => counts.failed += 1,
                Outcome::Skipped { .. } => counts.skipped += 1,
            }
        }
        counts
    }
}
