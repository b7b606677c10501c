//! Is the run precise enough, or are more blocks needed? The run plans once, from the widths of the
//! intervals of its first blocks (the pilot), how many blocks it needs, and measures them: the two
//! stages of Stein (1945).
//!
//! Neither verdicts nor widths are looked at again. Stopping at the first welcome verdict finds
//! differences between equals. Stopping when the intervals are narrow stops when the blocks happen to
//! lie close together: where trials scatter by 4 and 5 %, intervals of runs that ended so missed the
//! truth in 17 and 28 of 100 cases (docs/adr/0033-precision-plans-once.md).

mod plan;
mod target;
mod width;

use std::collections::BTreeMap;

pub use plan::Plan;
use serde::{Deserialize, Serialize};
pub use target::Target;
use wasmbench_api::BenchmarkRunSpec;
pub use width::{DifferenceWidth, Width};

use wasmbench_model::cells::cells_of;
use wasmbench_model::rounding::round_significant;
use wasmbench_model::wire::record::{Outcome, TrialId};

use crate::judge::comparison::Comparison;
use crate::read::observation::Observation;

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
    /// Blocks that the run will have, as its first blocks show. Absent before they are complete, and
    /// if nothing can be compared.
    pub planned: Option<u32>,
    /// Whether the run ends, and why.
    pub outcome: Ending,
    /// The widest interval of all ratios that can still be measured.
    pub widest: Option<Width>,
    /// The precision in words.
    pub message: String,
}

impl Precision {
    /// Whether it is known how many blocks the run will have.
    pub fn is_planned(&self) -> bool {
        self.planned.is_some() || self.outcome != Ending::GoingOn
    }

    /// The blocks that a run has to measure if `complete` of them have a record of every trial.
    pub fn blocks_after(&self, complete: u32) -> u32 {
        match (self.outcome, self.planned) {
            (Ending::GoingOn, Some(planned)) => planned.max(complete),
            // The records do not tell how many: some do not unpack.
            (Ending::GoingOn, None) => complete + 1,
            (Ending::PreciseEnough | Ending::BudgetSpent | Ending::NothingToCompare, _) => complete,
        }
    }
}

/// Whether a run with `spec.precision` ends, and why.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub enum Ending {
    /// More blocks are needed.
    GoingOn,
    /// The blocks were measured with which all intervals were planned to be narrow enough.
    PreciseEnough,
    /// All blocks that the spec allows were measured, and more would be needed.
    BudgetSpent,
    /// No ratio to the baseline can still be measured, or only bounds of them.
    NothingToCompare,
}

/// The widths of the primary ratios. A run does not wait for secondary ones: the memory of small
/// pods scatters by up to about 15 % between blocks, and would use up the whole budget.
pub fn widths(compared: &[Comparison]) -> Vec<Width> {
    // No number of blocks shows what lies beyond the ends of a ladder.
    let primary = compared
        .iter()
        .filter(|one| one.primary && one.estimate.bound.is_none());
    primary.map(Width::from_comparison).collect()
}

/// The number of blocks of a run: at least those with which it begins, and all that have a record.
pub fn blocks(spec: &BenchmarkRunSpec, observations: &BTreeMap<TrialId, Observation>) -> u32 {
    let begun = observations.keys().map(|trial| trial.block).max();
    begun
        .unwrap_or_default()
        .clamp(spec.fewest_blocks(), spec.most_blocks())
}

/// What a run with precision has measured.
#[derive(Clone, Copy)]
pub struct Course<'a> {
    /// The spec, with the blocks that the run has so far.
    pub spec: &'a BenchmarkRunSpec,
    /// Name of the variant with which the others are compared.
    pub baseline: &'a str,
    /// The blocks from which the run plans.
    pub pilot: u32,
    /// What was observed.
    pub observations: &'a BTreeMap<TrialId, Observation>,
    /// Whether a capacity lies beyond an end of its ladder, so that there may be no interval to narrow.
    pub is_bounded: bool,
}

impl Course<'_> {
    /// The target; `None` without `spec.precision`.
    fn target(self) -> Option<Target> {
        let precision = self.spec.precision.as_ref()?;
        Some(Target::new(precision.target(&self.spec.minimum_effect)))
    }

    /// How many blocks the run needs; `None` without `spec.precision`, before the pilot is complete,
    /// and if nothing can be compared. Later blocks change the plan in one way only: it is about the
    /// comparisons that can still be measured. `now` are the widths of the run, and `widths` returns
    /// those for a spec with fewer blocks.
    pub fn plan(
        self,
        now: &[Width],
        widths: impl FnOnce(&BenchmarkRunSpec) -> Vec<Width>,
    ) -> Option<Plan> {
        let target = self.target()?;
        if !self.is_complete(self.pilot) {
            return None;
        }
        let of_pilot = widths(&BenchmarkRunSpec {
            blocks: self.pilot,
            ..self.spec.clone()
        });
        let can_change = |width: &Width| {
            self.is_open(width) && now.iter().any(|latest| latest.is_of_same(width))
        };
        let open: Vec<Width> = of_pilot.into_iter().filter(can_change).collect();
        Plan::new(&target, self.pilot, self.spec.most_blocks(), &open)
    }

    /// How precise the run is; `None` without `spec.precision`. `now` are the widths of the run.
    pub fn precision(self, plan: Option<&Plan>, now: Vec<Width>) -> Option<Precision> {
        let target = self.target()?;
        let blocks = self.spec.blocks;
        let open: Vec<Width> = now.into_iter().filter(|now| self.is_open(now)).collect();
        let mut found = decide(&target, blocks, plan, &open);
        if found.outcome == Ending::NothingToCompare && self.is_bounded {
            found.message = format!(
                "ended after {blocks} blocks: only bounds are known, which no number of blocks narrows: state \
                 spec.sweeps.openLoop.rates that reach farther"
            );
        }
        if !self.is_complete(blocks) {
            found.outcome = Ending::GoingOn;
            let planned = found.planned.filter(|planned| *planned >= blocks);
            let of_planned = planned.map(|planned| format!(" of {planned} planned"));
            found.message = format!(
                "block {blocks}{} is being measured",
                of_planned.unwrap_or_default()
            );
        }
        Some(found)
    }

    /// Whether further blocks can change the comparison.
    fn is_open(self, width: &Width) -> bool {
        let last = self.spec.blocks;
        let given_up = |name| given_up(self.observations, name, &width.workload, last);
        !given_up(&width.variant) && !given_up(self.baseline)
    }

    /// Whether every trial of the first `blocks` blocks has a record.
    fn is_complete(self, blocks: u32) -> bool {
        let has_record = |block| {
            move |cell| {
                let trial = TrialId { cell, block };
                self.observations.contains_key(&trial)
            }
        };
        (1..=blocks).all(|block| cells_of(self.spec).into_iter().all(has_record(block)))
    }
}

/// Decides after `blocks` blocks by the `plan`, which is `None` if nothing can be compared. `now`
/// are the widths with all blocks so far; they decide nothing.
pub fn decide(target: &Target, blocks: u32, plan: Option<&Plan>, now: &[Width]) -> Precision {
    let outcome = match plan {
        None => Ending::NothingToCompare,
        Some(plan) if blocks < plan.blocks() => Ending::GoingOn,
        Some(plan) if plan.fits() => Ending::PreciseEnough,
        Some(_) => Ending::BudgetSpent,
    };
    let widest = target.widest(now);
    let shown = plan.map(|plan| message(outcome, blocks, target, plan, widest));
    Precision {
        message: shown.unwrap_or_else(|| {
            format!(
                "ended after {blocks} blocks: no ratio to the baseline can be measured any more"
            )
        }),
        target: target.as_written().to_owned(),
        blocks,
        planned: plan.map(Plan::blocks),
        outcome,
        widest: widest.cloned().map(|width| Width {
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
    target: &Target,
    plan: &Plan,
    widest: Option<&Width>,
) -> String {
    let Plan {
        pilot,
        widest: of_pilot,
        ..
    } = plan;
    let (planned, needed) = (plan.blocks(), plan.needed_text());
    let widest = widest.unwrap_or(of_pilot);
    let (place, (reach, own_target)) = (&widest.what, target.text(widest));
    match outcome {
        Ending::PreciseEnough => {
            let as_planned = if blocks > *pilot { " as planned" } else { "" };
            format!(
                "precise enough{as_planned} after {blocks} blocks: the widest interval is {reach} \
                 ({place}; target {own_target})"
            )
        }
        Ending::BudgetSpent => format!(
            "budget of {blocks} blocks spent: {needed} would be needed; {place} is still at {reach} \
             (target {own_target})"
        ),
        Ending::GoingOn | Ending::NothingToCompare => {
            let (place, (reach, own_target)) = (&of_pilot.what, target.text(of_pilot));
            let needs = if plan.fits() {
                format!("{planned} reach +-{own_target}")
            } else {
                format!("+-{own_target} would take {needed}")
            };
            format!(
                "block {blocks} of {planned} planned: after {pilot} blocks {place} is at {reach}, \
                 and {needs}"
            )
        }
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
