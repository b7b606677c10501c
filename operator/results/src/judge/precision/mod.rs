//! Is the run precise enough, or is another block needed? Decided only from the widths of the
//! intervals: looking at verdicts again and again, and stopping at the first welcome one, finds
//! differences between equals.
//!
//! Widths mislead, too: an interval first becomes narrow when the blocks happen to lie close
//! together, and an interval taken at that moment misses the truth in up to 8.5 of 100 cases
//! instead of in 5 of them. Hence [`STEADY`]; `report/tests/all/precision_simulation.rs` shows
//! this.

mod width;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{FEWEST_PRECISE_BLOCKS, share_of};
pub use width::{DifferenceWidth, Width};

use wasmbench_model::cells::cells_of;
use wasmbench_model::rounding::round_significant;
use wasmbench_model::wire::record::{Outcome, TrialId};

use crate::judge::comparison::Comparison;
use crate::read::observation::Observation;

/// The number of blocks in a row for which all intervals must be narrow enough. With one block,
/// intervals contain the truth in 91.5 of 100 runs in the worst case (a single ratio, 7 % noise);
/// with four, in 93.4.
pub const STEADY: u32 = 4;
/// The first number of blocks whose widths count; with fewer blocks the width of an interval is
/// luck.
const FIRST_LOOK: u32 = FEWEST_PRECISE_BLOCKS + 1 - STEADY;
/// Significant digits of widths.
const DIGITS: usize = 3;

/// How precise a run is.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Precision {
    /// How far an interval may reach from its ratio, as in the spec. The interval of a difference
    /// may reach half of the smallest difference that matters.
    pub target: String,
    /// Blocks that the run has so far.
    pub blocks: u32,
    /// Whether the run ends, and why.
    pub outcome: Ending,
    /// The widest interval of all ratios that can still be measured.
    pub widest: Option<Width>,
    /// The precision in words.
    pub message: String,
}

/// Whether a run with `spec.precision` ends, and why.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub enum Ending {
    /// Another block is needed.
    GoingOn,
    /// All intervals were narrow enough for [`STEADY`] blocks in a row.
    PreciseEnough,
    /// All blocks that the spec allows were measured.
    BudgetSpent,
    /// No ratio to the baseline can still be measured.
    NothingToCompare,
}

impl Ending {
    /// The blocks of a run that has measured `complete` of them and found this.
    pub fn blocks_after(self, complete: u32) -> u32 {
        match self {
            Self::GoingOn => complete + 1,
            Self::PreciseEnough | Self::BudgetSpent | Self::NothingToCompare => complete,
        }
    }
}

/// The widths of the primary ratios. A run does not wait for secondary ones: the memory of small
/// pods scatters by up to about 15 % between blocks, and would use up the whole budget.
pub fn widths(compared: &[Comparison]) -> Vec<Width> {
    let primary = compared.iter().filter(|one| one.primary);
    primary.map(Width::from_comparison).collect()
}

/// The number of blocks of a run: at least those with which it begins, and all that have a record.
pub fn blocks(spec: &BenchmarkRunSpec, observations: &BTreeMap<TrialId, Observation>) -> u32 {
    let begun = observations.keys().map(|trial| trial.block).max();
    begun
        .unwrap_or_default()
        .clamp(spec.fewest_blocks(), spec.most_blocks())
}

/// How precise the run is after the blocks of `spec`; `None` without `spec.precision`. `widths`
/// returns the widths of the ratios for a spec with as many blocks or fewer.
pub fn reached(
    spec: &BenchmarkRunSpec,
    baseline: &str,
    observations: &BTreeMap<TrialId, Observation>,
    widths: impl Fn(&BenchmarkRunSpec) -> Vec<Width>,
) -> Option<Precision> {
    let precision = spec.precision.as_ref()?;
    let is_open = |width: &Width| {
        let given_up = |name| given_up(observations, name, &width.workload, spec.blocks);
        !given_up(&width.variant) && !given_up(baseline)
    };
    let look = |blocks| {
        let spec = BenchmarkRunSpec {
            blocks,
            ..spec.clone()
        };
        widths(&spec).into_iter().filter(is_open).collect()
    };
    let earliest = FIRST_LOOK.max((spec.blocks + 1).saturating_sub(STEADY));
    let looks: Vec<Vec<Width>> = (earliest..=spec.blocks).rev().map(look).collect();
    let target = &precision.target(&spec.minimum_effect);
    let mut found = decide(target, spec.blocks, spec.most_blocks(), &looks);
    if !is_complete(spec, observations) {
        found.outcome = Ending::GoingOn;
        found.message = format!("block {} is being measured", spec.blocks);
    }
    Some(found)
}

/// Decides after `blocks` blocks of at most `most`. `looks` holds the widths with all blocks so
/// far, then those with one block fewer, and so on.
pub fn decide(target: &str, blocks: u32, most: u32, looks: &[Vec<Width>]) -> Precision {
    // validate rejects anything that is not a share.
    let share = share_of(target).unwrap_or_default();
    let widest = |look: &Vec<Width>| {
        let widths = look.iter().cloned();
        widths.max_by(|one, other| one.excess(share).total_cmp(&other.excess(share)))
    };
    let is_narrow = |width: &Width| width.excess(share) <= 1.0;
    let narrow = looks.iter().map(widest);
    let steady = narrow
        .take_while(|width| width.as_ref().is_some_and(is_narrow))
        .count();
    let now = looks.first().and_then(widest);
    let outcome = match &now {
        None => Ending::NothingToCompare,
        Some(_) if steady >= STEADY as usize => Ending::PreciseEnough,
        Some(_) if blocks >= most => Ending::BudgetSpent,
        Some(_) => Ending::GoingOn,
    };
    Precision {
        message: message(outcome, blocks, target, now.as_ref(), steady),
        target: target.to_owned(),
        blocks,
        outcome,
        widest: now.map(|width| Width {
            relative: width.relative.map(|share| round_significant(share, DIGITS)),
            difference: width.difference.map(|width| DifferenceWidth {
                reaches: round_significant(width.reaches, DIGITS),
                ..width
            }),
            ..width
        }),
    }
}

fn message(
    outcome: Ending,
    blocks: u32,
    target: &str,
    widest: Option<&Width>,
    steady: usize,
) -> String {
    let place = widest.map_or("", |width| width.what.as_str());
    let (reach, own_target) = widest.map(|width| width.words(target)).unwrap_or_default();
    match outcome {
        Ending::PreciseEnough => format!(
            "precise enough after {blocks} blocks: the widest interval is {reach} ({place}; \
             target {own_target})"
        ),
        Ending::BudgetSpent if steady > 0 => format!(
            "budget of {blocks} blocks spent: all intervals are narrow enough, but not yet for \
             {STEADY} blocks in a row; the widest is {reach} ({place}; target {own_target})"
        ),
        Ending::BudgetSpent => format!(
            "budget of {blocks} blocks spent: {place} is still at {reach} (target {own_target})"
        ),
        Ending::GoingOn => {
            format!("after {blocks} blocks {place} is at {reach} (target {own_target})")
        }
        Ending::NothingToCompare => format!(
            "ended after {blocks} blocks: no ratio to the baseline can be measured any more"
        ),
    }
}

/// Whether `variant` was skipped in the last block, so that its ratios no longer change.
fn given_up(
    observations: &BTreeMap<TrialId, Observation>,
    variant: &str,
    workload: &str,
    last: u32,
) -> bool {
    observations.iter().any(|(trial, observed)| {
        trial.block == last
            && trial.cell.variant == variant
            && trial.cell.workload == workload
            && matches!(observed.ended, Outcome::Skipped { .. })
    })
}

fn is_complete(spec: &BenchmarkRunSpec, observations: &BTreeMap<TrialId, Observation>) -> bool {
    let has_record = |block| {
        move |cell| {
            let trial = TrialId { cell, block };
            observations.contains_key(&trial)
        }
    };
    (1..=spec.blocks).all(|block| cells_of(spec).into_iter().all(has_record(block)))
}
