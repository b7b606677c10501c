//! Cold starts: records in, numbers out. Apart from the results of loads, because the unit is
//! another one: a pod's start, not a request.
//!
//! Reading order: [`trial`] (the numbers of one record), [`mod@cells`] (all blocks of a cell),
//! [`noise`] (was the node the run's alone), [`validity`] (which of them count, and why not),
//! [`floor`] (what the harness takes), [`words`] (the sweep).

mod cells;
mod floor;
mod noise;
pub mod trial;
mod validity;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_api::absent::is_zero;
use wasmbench_core::wire::cold_start::{Clock, ColdStep, CompileCache};
use wasmbench_core::wire::record::Point;

use crate::any_cell::AnyCell;
use crate::counts::TrialCounts;
use crate::doubt::Reason;
use crate::measure::Metric;
use crate::noise_limit::are_too_many;
use crate::statistics::Spread;

pub use cells::cell;
pub use floor::{HarnessFloor, floors};
pub use trial::{ColdTrial, of_document};
pub use validity::{doubts, mark};
pub use words::sweep;

/// One variant under one workload with one number of pods at once. Times are microseconds; the
/// numbers are those of the valid trials, or of the invalid ones where there is no other.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartCell {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// Pods that were created at once.
    pub concurrency: u32,
    /// How its trials ended.
    pub counts: TrialCounts,
    /// Why it is invalid: shown, and no part of comparisons and verdicts. Empty when nothing speaks
    /// against it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid_because: Vec<Reason>,
    /// Measured trials that have fewer samples than were asked for, because others were of the
    /// wrong class.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_class_trials: u32,
    /// Samples of all measured trials in which a pod found something else on the node than the
    /// class says. They count in no number.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wrong_class_samples: u32,
    /// Samples behind the numbers without evidence of what their pods found on the node.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unverified_samples: u32,
    /// Samples behind the numbers, by whether the runtime kept a compiled form of their image
    /// before; those of which nobody could tell are left out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compiled_before: BTreeMap<CompileCache, u32>,
    /// Samples behind the numbers of a variant whose runtime may keep a compiled form of its image,
    /// of which nobody could tell whether it did.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compile_cache_unknown: u32,
    /// Samples behind the numbers in which the node was not the run's alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub noisy_samples: u32,
    /// Of so many it is known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub judged_samples: u32,
    /// How much earlier the first correct answer may have been there: the median over the pods for
    /// which it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_uncertainty_microseconds: Option<f64>,
    /// How far the wall clock ran away from the monotonic one in a sample that counts, at most.
    #[serde(default)]
    pub clock_shift_microseconds: f64,
    /// Pods behind the numbers, without the discarded ones.
    pub pods: u32,
    /// Pods that answered correctly at the first attempt: their answer waited for the address to be
    /// published, and the service may have been ready before.
    pub first_attempt_answers: u32,
    /// From the request that creates the pod to the log line that says that the service listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_to_listening: Option<ColdTime>,
    /// From the request that creates the pod to the first correct answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub create_to_answer: Option<ColdTime>,
    /// From the first request that creates a pod to the last first answer of a sample; only with
    /// more than one pod at once. Over blocks, the median sample of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub makespan_microseconds: Option<Spread>,
    /// When each step was reached.
    pub steps: Vec<StepTime>,
    /// One entry per block behind the numbers.
    pub blocks: Vec<ColdBlock>,
}

impl ColdStartCell {
    /// Whether more than half of its pods were answered at the first attempt. Nobody knows how much
    /// earlier they would have answered, so that the time to the answer is the cluster's, and no
    /// number of the variant.
    pub const fn answers_wait_for_the_cluster(&self) -> bool {
        self.first_attempt_answers.saturating_mul(2) > self.pods
    }
}

impl AnyCell for ColdStartCell {
    fn variant(&self) -> &str {
        &self.variant
    }

    fn workload(&self) -> &str {
        &self.workload
    }

    fn point(&self) -> Point {
        Point::ColdStart {
            concurrency: self.concurrency,
        }
    }

    fn counts(&self) -> TrialCounts {
        self.counts
    }

    fn invalid_because(&self) -> &[Reason] {
        &self.invalid_because
    }

    /// Here it is samples that are counted, and with a few of them a single one is no sign of a
    /// neighbour: starts differ by themselves.
    fn is_noisy(&self) -> bool {
        self.noisy_samples > 1 && are_too_many(self.noisy_samples, self.judged_samples)
    }

    fn series(&self) -> Vec<(Metric, BTreeMap<u32, f64>)> {
        let blocks = || self.blocks.iter();
        let listening = blocks().filter_map(|block| Some((block.block, block.listening?)));
        let answers = blocks().filter(|_| !self.answers_wait_for_the_cluster());
        let answers = answers.filter_map(|block| Some((block.block, block.answer?)));
        vec![
            (Metric::ColdStartListening, listening.collect()),
            (Metric::ColdStartAnswer, answers.collect()),
        ]
    }
}

/// A time over all blocks of a cell.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdTime {
    /// Over the medians of the blocks: their median with its interval.
    pub p50_microseconds: Spread,
    /// 90th percentile of all pods together.
    pub p90_microseconds: f64,
    /// Whether there are the 100 pods that a p90 needs.
    pub p90_carried: bool,
}

/// A step of the start: the median over the blocks of the medians of their pods.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct StepTime {
    /// Which one.
    pub step: ColdStep,
    /// Since the request that creates the pod.
    pub p50_microseconds: f64,
    /// Pods for which there is evidence of it.
    pub pods: u32,
    /// Where the evidence comes from.
    pub clock: Clock,
}

/// The medians of one block, and its discarded sample.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdBlock {
    /// Which one, counted from 1.
    pub block: u32,
    /// Median of its pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<f64>,
    /// Median of its pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<f64>,
    /// Median of the pods of the discarded sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded_listening: Option<f64>,
    /// Median of the pods of the discarded sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discarded_answer: Option<f64>,
}
