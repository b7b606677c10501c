//! What sweeps that are no loads (cold starts, density) have in common: the measured trials of a cell by
//! block, and how its trials ended.

use std::collections::BTreeMap;

use wasmbench_core::rounding::{SUMMARY_DIGITS, round_significant};
use wasmbench_core::wire::record::{Cell, Outcome, TrialId};

use crate::counts::TrialCounts;
use crate::observation::Observation;

/// The measured trials of a cell by block, as far as they have the `numbers` that are asked for.
pub fn measured<'a, T: 'a>(
    cell: &Cell,
    blocks: u32,
    observations: &'a BTreeMap<TrialId, Observation>,
    numbers: fn(&Observation) -> Option<&T>,
) -> impl Iterator<Item = (u32, &'a T)> {
    let trial = move |block| {
        let cell = cell.clone();
        let seen = observations.get(&TrialId { cell, block })?;
        Some((block, numbers(seen).filter(|_| seen.is_measured())?))
    };
    (1..=blocks).filter_map(trial)
}

/// How the trials of a cell ended. Those that were measured and are not among the `valid` are invalid.
pub fn counts<T>(
    cell: &Cell,
    blocks: u32,
    observations: &BTreeMap<TrialId, Observation>,
    valid: &BTreeMap<u32, T>,
) -> TrialCounts {
    let mut counts = TrialCounts {
        planned: blocks,
        valid: u32::try_from(valid.len()).unwrap_or(u32::MAX),
        missing: blocks,
        ..TrialCounts::default()
    };
    for block in 1..=blocks {
        let cell = cell.clone();
        let Some(seen) = observations.get(&TrialId { cell, block }) else {
            continue;
        };
        counts.missing -= 1;
        match &seen.ended {
            Outcome::Measured => counts.invalid += u32::from(!valid.contains_key(&block)),
            Outcome::Failed { .. } => counts.failed += 1,
            Outcome::Skipped { .. } => counts.skipped += 1,
        }
    }
    counts
}

/// A number as a summary has it.
pub fn round(value: f64) -> f64 {
    round_significant(value, SUMMARY_DIGITS)
}
