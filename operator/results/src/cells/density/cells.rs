//! Climbs to cells: medians over blocks.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::rounding::round_number;
use wasmbench_model::wire::record::Point;

use crate::cells::density::blocks::{Blocks, by_instances};
use crate::cells::density::disturbed_steps::disturbed_steps;
use crate::cells::density::{
    DensityBlock, DensityCell, DensityDetail, DensityEnd, DensityStepSummary, validity,
};
use crate::cells::recorded::Recorded;
use crate::cells::variant_validity::VariantValidity;
use crate::read::density_trial::DensityTrial;
use crate::read::density_trial::Reached;
use crate::read::observation::Observation;
use crate::statistics::Spread;
use crate::vocabulary::cell::CellSummary;

/// The cell of density; `None` for a point of another sweep. Variants that gave wrong answers have
/// no valid trials.
pub fn cell(
    spec: &BenchmarkRunSpec,
    recorded: &Recorded<'_>,
    validity: VariantValidity<'_>,
) -> Option<DensityCell> {
    if recorded.cell.point != Point::Density {
        return None;
    }
    let ladder = spec.sweeps.density.as_ref()?.ladder();
    let cell = recorded.cell.clone();
    let wrong = validity.has_wrong_answers(&cell.variant, &cell.workload);
    let all: Blocks<'_> = recorded.measured(Observation::density);
    let (counts, shown) = recorded.shown(&all, |_| !wrong);
    let detail = DensityDetail {
        disturbed_steps: disturbed_steps(&all),
        ..summarise(&shown, ladder.last().copied().unwrap_or_default())
    };
    let sets_limit = spec.sets_cpu_limit(&cell.variant);
    let own = validity::reasons(&detail, sets_limit);
    let invalid = validity.invalid_because(&cell, counts, own);
    Some(CellSummary::new(cell, counts, detail, invalid))
}

fn summarise(blocks: &Blocks<'_>, planned: u32) -> DensityDetail {
    let slopes = |slope: fn(&DensityTrial) -> Option<f64>| {
        Spread::from_values(blocks.values().filter_map(|trial| slope(trial)))
            .map(|spread| spread.map(round_number))
    };
    DensityDetail {
        disturbed_steps: vec![],
        bytes_per_instance: slopes(DensityTrial::slope),
        node_bytes_per_instance: slopes(DensityTrial::node_slope),
        steps: steps(blocks),
        stopped: ends(blocks, planned),
        blocks: blocks
            .iter()
            .map(|(block, trial)| DensityBlock {
                block: *block,
                instances: trial.reached(),
                bytes_per_instance: trial.slope().map(round_number),
            })
            .collect(),
    }
}

fn steps(blocks: &Blocks<'_>) -> Vec<DensityStepSummary> {
    let of_step = |(instances, steps): (u32, Vec<&Reached>)| {
        let spread = |number: fn(&Reached) -> Option<f64>| {
            Spread::from_values(steps.iter().filter_map(|step| number(step)))
                .map(|spread| spread.map(round_number))
        };
        Some(DensityStepSummary {
            instances,
            trials: u32::try_from(steps.len()).unwrap_or(u32::MAX),
            all_answered_microseconds: spread(|step| Some(step.all_answered))?,
            first_p50_microseconds: spread(|step| step.first_p50),
            sandboxes_bytes: spread(|step| step.sandboxes),
            pods_bytes: spread(|step| step.pods),
        })
    };
    by_instances(blocks)
        .into_iter()
        .filter_map(of_step)
        .collect()
}

fn ends(blocks: &Blocks<'_>, planned: u32) -> Vec<DensityEnd> {
    let mut ends: Vec<DensityEnd> = vec![];
    for trial in blocks.values() {
        let Some(stopped) = &trial.stopped else {
            continue;
        };
        let reached = trial.reached();
        let same = |end: &&mut DensityEnd| {
            (end.reached, end.at, end.reason) == (reached, stopped.at, stopped.reason)
        };
        if let Some(known) = ends.iter_mut().find(same) {
            known.trials += 1;
        } else {
            ends.push(DensityEnd {
                reached,
                at: stopped.at,
                planned,
                reason: stopped.reason,
                message: stopped.message.clone(),
                trials: 1,
            });
        }
    }
    ends
}
