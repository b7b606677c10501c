//! The harness floor: cold starts of a subject that does nothing but listen.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_model::rounding::round_number;
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::record::{Point, TrialId};

use crate::read::cold_trial::ColdTrial;
use crate::read::observation::Observation;
use crate::statistics::{Spread, median};

/// How long a cold start takes when the service does nothing. Times are in microseconds. Like those
/// of a variant they are medians, with intervals, over the median pods of the blocks.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HarnessFloor {
    /// Pods that were created at once.
    pub concurrency: u32,
    /// Blocks in which the floor was measured.
    pub blocks: u32,
    /// Pods behind the numbers, without the discarded ones.
    pub pods: u32,
    /// From the request that creates the pod to the log line saying that it listens.
    pub listening_microseconds: Option<Spread>,
    /// From the request that creates the pod to its first answer.
    pub answer_microseconds: Option<Spread>,
}

/// The measured floors, one per number of pods created at once.
pub fn floors(observations: &BTreeMap<TrialId, Observation>) -> Vec<HarnessFloor> {
    let mut by_point: BTreeMap<u32, BTreeMap<u32, Vec<&ColdTrial>>> = BTreeMap::new();
    for (trial, observed) in observations {
        let Point::ColdStart { concurrency } = trial.cell.point else {
            continue;
        };
        if let Some(cold) = observed.cold_start().filter(|cold| cold.floor_pods > 0) {
            let blocks = by_point.entry(concurrency).or_default();
            blocks.entry(trial.block).or_default().push(cold);
        }
    }
    by_point
        .into_iter()
        .map(|(concurrency, blocks)| floor(concurrency, &blocks))
        .collect()
}

fn floor(concurrency: u32, blocks: &BTreeMap<u32, Vec<&ColdTrial>>) -> HarnessFloor {
    let spread = |step| {
        let of_block = |trials: &Vec<&ColdTrial>| {
            median(trials.iter().filter_map(|trial| trial.floor_median(step)))
        };
        let spread = Spread::from_values(blocks.values().filter_map(of_block))?;
        Some(spread.map(round_number))
    };
    HarnessFloor {
        concurrency,
        blocks: u32::try_from(blocks.len()).unwrap_or(u32::MAX),
        pods: blocks
            .values()
            .flatten()
            .map(|trial| trial.floor_pods)
            .sum(),
        listening_microseconds: spread(ColdStep::Listening),
        answer_microseconds: spread(ColdStep::FirstCorrectAnswer),
    }
}
