//! Cold starts: records in, numbers out. Separate from the results of loads, because the unit is
//! different: a pod's start, not a request.
//!
//! Reading order: [`crate::read::cold_trial`] (the numbers of one record), [`mod@cells`] (all blocks
//! of a cell), [`late`] (pods that were given up), [`validity`] (which cells count, and why others do not),
//! and [`floor`] (what the harness itself takes).

mod cells;
mod floor;
mod late;
mod validity;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_api::absent::is_zero;
use wasmbench_model::wire::cold_start::{Clock, ColdStep, CompileCache};
use wasmbench_model::wire::record::Point;

use crate::cells::noisy_trials::are_too_many;
use crate::statistics::Spread;
use crate::vocabulary::cell::{ByBlock, CellSummary};
use crate::vocabulary::measure::Metric;

pub use cells::cell;
pub use floor::{HarnessFloor, floors};
pub use late::{InTime, LateStarts};

/// A cell of cold starts: one number of pods created at once.
pub type ColdStartCell = CellSummary<ColdStartDetail>;

/// What only cells of cold starts have. Times are in microseconds. The numbers are those of the
/// valid trials, or of the invalid ones if there are no others.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartDetail {
    /// Pods that were created at once.
    pub concurrency: u32,
    /// Measured trials with fewer samples than requested, because others were of the wrong class.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_class_trials: u32,
    /// Samples of all measured trials in which a pod found the node in another state than the class
    /// requires. They are excluded from all numbers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_class_samples: u32,
    /// Samples behind the numbers that lack evidence of what their pods found on the node.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unverified_samples: u32,
    /// Samples behind the numbers, by whether the runtime had kept a compiled form of their image.
    /// Samples for which this is unknown are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compiled_before: BTreeMap<CompileCache, u32>,
    /// Samples behind the numbers for which it is unknown whether the runtime had kept a compiled
    /// form of the image; only for variants whose runtime may keep one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compile_cache_unknown: u32,
    /// Samples behind the numbers in which the run did not have the node to itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub noisy_samples: u32,
    /// Samples in which the noise of the node is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub judged_samples: u32,
    /// How much earlier the first correct answer may have been possible: the median over the pods
    /// for which this is known.
    pub answer_uncertainty_microseconds: Option<f64>,
    /// The largest drift of the wall clock from the monotonic clock in a sample that counts.
    #[serde(default)]
    pub clock_shift_microseconds: f64,
    /// Pods behind the numbers, without the discarded ones.
    pub pods: u32,
    /// Pods that gave no correct answer in time; absent if all did. Medians and percentiles count
    /// them as longer than all others.
    pub late: Option<LateStarts>,
    /// Pods that answered correctly at the first attempt: the request had to wait for their address
    /// to be published, so the service may have been ready before.
    pub first_attempt_answers: u32,
    /// From the request that creates the pod to the log line saying that the service listens.
    pub create_to_listening: Option<ColdTime>,
    /// From the request that creates the pod to the first correct answer.
    pub create_to_answer: Option<ColdTime>,
    /// From the first request that creates a pod to the last first answer of a sample; only with
    /// more than one pod at once. A spread over blocks, each represented by its median sample.
    pub makespan_microseconds: Option<Spread>,
    /// When each step was reached.
    pub steps: Vec<StepTime>,
    /// One entry per block behind the numbers.
    pub blocks: Vec<ColdBlock>,
}

impl ColdStartDetail {
    /// Whether more than half of the pods answered at the first attempt. How much earlier they
    /// could have answered is unknown, so the time to the answer is a property of the cluster and
    /// not of the variant.
    pub const fn answers_wait_for_the_cluster(&self) -> bool {
        self.first_attempt_answers.saturating_mul(2) > self.pods
    }

    /// The point of the sweep.
    pub const fn point(&self) -> Point {
        Point::ColdStart {
            concurrency: self.concurrency,
        }
    }

    /// Whether the node was noisy in more of the samples than a comparison tolerates. Among few
    /// samples a single noisy one is no sign of a neighbour, because starts differ anyway.
    pub fn is_noisy(&self) -> bool {
        self.noisy_samples > 1 && are_too_many(self.noisy_samples, self.judged_samples)
    }

    /// The measures, each with one number per valid block. The time to the answer is left out if it
    /// depends on the cluster and not on the variant.
    pub fn series(&self) -> Vec<(Metric, ByBlock)> {
        let blocks = || self.blocks.iter();
        let listening = blocks().filter_map(|block| Some((block.block, block.listening?)));
        let answers = blocks()
            .filter(|_| !self.answers_wait_for_the_cluster())
            .filter_map(|block| Some((block.block, block.answer?)));
        vec![
            (Metric::ColdStartListening, listening.collect()),
            (Metric::ColdStartAnswer, answers.collect()),
        ]
    }
}

/// A time over all blocks of a cell.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdTime {
    /// The median of the blocks' medians, with its interval.
    pub p50_microseconds: Spread,
    /// 90th percentile of all pods together; absent if it is that of a late pod, and thus longer
    /// than the limit.
    pub p90_microseconds: Option<f64>,
    /// Whether there are the 100 pods that a p90 needs.
    pub p90_carried: bool,
}

/// A step of the start: the median over blocks of each block's median pod.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct StepTime {
    /// Which step.
    pub step: ColdStep,
    /// Time since the request that creates the pod.
    pub p50_microseconds: f64,
    /// Pods with evidence of this step.
    pub pods: u32,
    /// Where the evidence comes from.
    pub clock: Clock,
}

/// The medians of one block, and its discarded sample.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdBlock {
    /// Number of the block, counted from 1.
    pub block: u32,
    /// Median time to listening of the pods, in microseconds.
    pub listening: Option<f64>,
    /// Median time to the first correct answer of the pods, in microseconds.
    pub answer: Option<f64>,
    /// Median time to listening in the discarded sample, in microseconds.
    pub discarded_listening: Option<f64>,
    /// Median time to the first correct answer in the discarded sample, in microseconds.
    pub discarded_answer: Option<f64>,
}
