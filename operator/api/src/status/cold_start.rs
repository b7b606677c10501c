//! What the status says about cold starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::is_zero;

/// Cold starts with one number of pods at once, over the valid trials, or over the invalid ones if
/// there are no others.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartPoint {
    /// Pods that were created at once.
    pub concurrency: u32,

    /// Valid trials.
    pub trials: u32,

    /// Trials that `trials` does not count: failed, skipped or invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the point is invalid, the worst reason first. An invalid point is shown but excluded
    /// from comparisons. Absent for a valid point.
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// Samples behind the numbers, excluding discarded ones and those of the wrong class.
    pub samples: u32,

    /// From the request that creates the pod to the log line with which the service reports that it
    /// is listening, on the node's clock. Absent if no such line was found.
    pub listening: Option<ColdStartTime>,

    /// From the request that creates the pod to the first correct answer over the pod network,
    /// which cannot come before the API reports the pod's address.
    pub answer: Option<ColdStartTime>,

    /// From the first pod's creation to the last pod's first correct answer, in microseconds; only
    /// with more than one pod at once.
    pub makespan_microseconds: Option<f64>,
}

/// How long a start takes.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartTime {
    /// Median over the blocks of each block's median pod, in microseconds.
    pub p50_microseconds: f64,

    /// 90th percentile over all pods, in microseconds.
    pub p90_microseconds: f64,

    /// The time as a multiple of the baseline's, block by block.
    pub versus_baseline: Option<ColdStartRatio>,
}

/// A time as a multiple of the baseline's, compared within each block.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartRatio {
    /// True for a primary measure. Absent for secondary ones, which are corrected separately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub primary: bool,

    /// This variant's time divided by the baseline's in the same block, averaged over blocks on the
    /// log scale without the outermost eighth at each end.
    pub ratio: f64,

    /// Lower end of the 95 % interval of the ratio; the ratio itself with one block.
    pub low: f64,

    /// Upper end of the 95 % interval of the ratio; the ratio itself with one block.
    pub high: f64,

    /// How far the baseline's twin may differ from the baseline, as a factor above 1. Absent
    /// without a twin.
    pub noise_floor: Option<f64>,

    /// The difference to the baseline, in microseconds; the verdict is based on it.
    pub difference_microseconds: Option<f64>,

    /// Lower end of the difference's 95 % interval. Absent with one block.
    pub difference_low_microseconds: Option<f64>,

    /// Upper end of the difference's 95 % interval. Absent with one block.
    pub difference_high_microseconds: Option<f64>,

    /// `Faster`, `Slower`, `Equivalent` (the whole interval of the difference within
    /// `minimumDifference.startMilliseconds`) or `Inconclusive` (the data do not say).
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub verdict: String,

    /// Why the ratio is untrusted although it is shown. Absent if nothing speaks against it.
    #[schemars(length(max = 128))]
    pub untrusted: Option<String>,

    /// Blocks in which both were measured.
    pub blocks: u32,
}

/// How long a cold start takes when the service does nothing.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HarnessFloor {
    /// Pods that were created at once.
    pub concurrency: u32,

    /// From the request that creates the pod to the log line that reports that it is listening.
    pub listening: Option<FloorTime>,

    /// From the request that creates the pod to its first answer.
    pub answer: Option<FloorTime>,
}

/// A time of the harness floor, in microseconds.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct FloorTime {
    /// Median over the blocks of each block's median pod.
    pub p50_microseconds: f64,

    /// Lower end of the median's 95 % interval.
    pub low_microseconds: f64,

    /// Upper end of the median's 95 % interval.
    pub high_microseconds: f64,
}
