//! Trials to cells: medians over blocks.

use std::collections::BTreeMap;

use strum::IntoEnumIterator as _;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_model::rounding::round_number;
use wasmbench_model::variants::engine;
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::record::Point;

use crate::cells::coldstart::{
    ColdBlock, ColdStartCell, ColdStartDetail, ColdTime, StepTime, late, validity,
};
use crate::cells::recorded::Recorded;
use crate::cells::variant_validity::VariantValidity;
use crate::read::cold_trial::ColdTrial;
use crate::read::node_use::{self, NodeUse};
use crate::read::observation::Observation;
use crate::read::trial::carries;
use crate::statistics::{Spread, median};
use crate::vocabulary::cell::CellSummary;
use crate::vocabulary::minimum::smallest_start;

/// Trials of a cell, by block.
type Blocks<'a> = BTreeMap<u32, &'a ColdTrial>;

/// The cell of a cold-start point; `None` for a point of another sweep. Variants that gave wrong
/// answers have no valid trials.
pub fn cell(
    spec: &BenchmarkRunSpec,
    recorded: &Recorded<'_>,
    validity: VariantValidity<'_>,
) -> Option<ColdStartCell> {
    let Point::ColdStart { concurrency } = recorded.cell.point else {
        return None;
    };
    let sweep = spec.sweeps.cold_start.as_ref()?;
    let cell = recorded.cell.clone();
    let wrong = validity.has_wrong_answers(&cell.variant, &cell.workload);
    let all: Blocks<'_> = recorded.measured(Observation::cold_start);
    let is_valid = |trial: &ColdTrial| !wrong && trial.samples >= sweep.samples;
    let (counts, shown) = recorded.shown(&all, is_valid);
    let lost = all
        .values()
        .filter(|trial| trial.lost_its_class(sweep.samples));
    let known: u32 = shown.values().map(|trial| with_known_cache(trial)).sum();
    let samples: u32 = shown.values().map(|trial| trial.samples).sum();
    // An image that is pulled anew is compiled anew.
    let is_pulled = sweep.class == ColdStartClass::NodeCold;
    let may_be_compiled = !is_pulled && engine::may_keep_compiled_images(recorded.variant);
    let summed = summarise(concurrency, &shown);
    let has_class = sweep.class != ColdStartClass::Scaled;
    let detail = ColdStartDetail {
        // Where it does not matter what the node has, there is nothing to verify.
        unverified_samples: summed.unverified_samples * u32::from(has_class),
        compile_cache_unknown: if may_be_compiled {
            samples.saturating_sub(known)
        } else {
            0
        },
        wrong_class_trials: u32::try_from(lost.count()).unwrap_or(u32::MAX),
        wrong_class_samples: all.values().map(|t| t.wrong_class_samples).sum(),
        late: late::starts(shown.values().copied(), sweep.timeout_seconds),
        ..summed
    };
    let own = validity::reasons(&detail, smallest_start(spec));
    let invalid = validity.invalid_because(&cell, counts, own);
    Some(CellSummary::new(cell, counts, detail, invalid))
}

/// The number of samples for which it is known whether a compiled form of the image was kept.
fn with_known_cache(trial: &ColdTrial) -> u32 {
    trial.compiled_before.values().sum()
}

fn summarise(concurrency: u32, blocks: &Blocks<'_>) -> ColdStartDetail {
    let makespans = blocks.values().filter_map(|trial| trial.makespan());
    let uncertainties = blocks
        .values()
        .flat_map(|trial| trial.answer_uncertainties.iter().copied());
    let shifts = blocks.values().map(|trial| trial.clock_shift);
    let node = blocks.values().flat_map(|trial| trial.node.iter().copied());
    let (noisy_samples, judged_samples) = node_use::noisy(&node.collect::<Vec<NodeUse>>());
    let mut compiled_before = BTreeMap::new();
    for (found, samples) in blocks.values().flat_map(|trial| &trial.compiled_before) {
        *compiled_before.entry(*found).or_default() += samples;
    }
    ColdStartDetail {
        compiled_before,
        compile_cache_unknown: 0,
        concurrency,
        wrong_class_trials: 0,
        wrong_class_samples: 0,
        late: None,
        unverified_samples: blocks.values().map(|trial| trial.unverified_samples).sum(),
        answer_uncertainty_microseconds: median(uncertainties).map(round_number),
        noisy_samples,
        judged_samples,
        clock_shift_microseconds: round_number(shifts.fold(0.0, f64::max)),
        pods: blocks.values().map(|trial| trial.pods).sum(),
        first_attempt_answers: blocks
            .values()
            .map(|trial| trial.first_attempt_answers)
            .sum(),
        create_to_listening: time(ColdStep::Listening, blocks),
        create_to_answer: time(ColdStep::FirstCorrectAnswer, blocks),
        makespan_microseconds: Spread::from_values(makespans)
            .filter(|_| concurrency > 1)
            .map(|spread| spread.map(round_number)),
        steps: ColdStep::iter()
            .filter_map(|step| step_time(step, blocks))
            .collect(),
        blocks: blocks
            .iter()
            .map(|(block, trial)| of_block(*block, trial))
            .collect(),
    }
}

fn medians(step: ColdStep, blocks: &Blocks<'_>) -> BTreeMap<u32, f64> {
    let median = |(block, trial): (&u32, &&ColdTrial)| Some((*block, trial.median(step)?));
    blocks.iter().filter_map(median).collect()
}

fn time(step: ColdStep, blocks: &Blocks<'_>) -> Option<ColdTime> {
    let own = medians(step, blocks);
    let mut reached: Vec<f64> = blocks
        .values()
        .filter_map(|trial| trial.steps.get(&step))
        .flatten()
        .copied()
        .collect();
    reached.sort_by(f64::total_cmp);
    let given_up = blocks.values().map(|trial| trial.given_up_before(step));
    let pods = reached.len() + given_up.sum::<usize>();
    Some(ColdTime {
        p50_microseconds: Spread::from_values(own.values().copied())?.map(round_number),
        p90_microseconds: late::percentile(&reached, pods, 90).map(round_number),
        p90_carried: carries(pods as u64, 10),
    })
}

fn step_time(step: ColdStep, blocks: &Blocks<'_>) -> Option<StepTime> {
    // The timeline starts here: the time is always 0.
    if step == ColdStep::CreateSent {
        return None;
    }
    let pods: usize = blocks
        .values()
        .filter_map(|trial| trial.steps.get(&step))
        .map(Vec::len)
        .sum();
    Some(StepTime {
        step,
        p50_microseconds: round_number(median(medians(step, blocks).into_values())?),
        pods: u32::try_from(pods).unwrap_or(u32::MAX),
        clock: *blocks.values().find_map(|trial| trial.clocks.get(&step))?,
    })
}

fn of_block(block: u32, trial: &ColdTrial) -> ColdBlock {
    let (listening, answer) = (ColdStep::Listening, ColdStep::FirstCorrectAnswer);
    ColdBlock {
        block,
        listening: trial.median(listening).map(round_number),
        answer: trial.median(answer).map(round_number),
        discarded_listening: trial.discarded_median(listening).map(round_number),
        discarded_answer: trial.discarded_median(answer).map(round_number),
    }
}
