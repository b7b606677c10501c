//! What the status says about cold starts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged_ratio::JudgedRatio;
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

    /// Pods that gave no correct answer in time. Absent if all did.
    pub late: Option<LateStarts>,

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

/// Pods that gave no correct answer in time. They count as longer than all others.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LateStarts {
    /// How many pods.
    pub starts: u32,

    /// Seconds that each pod had.
    pub limit_seconds: u32,
}

/// How long a start takes.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartTime {
    /// Median over the blocks of each block's median pod, in microseconds.
    pub p50_microseconds: f64,

    /// 90th percentile over all pods, in microseconds. Absent if it is that of a late pod, and thus
    /// longer than the limit.
    pub p90_microseconds: Option<f64>,

    /// The time as a multiple of the baseline's, block by block. The verdict is based on the
    /// difference.
    pub versus_baseline: Option<ColdStartRatio>,
}

/// A time as a multiple of the baseline's. The verdict is based on the difference.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartRatio {
    /// The ratio and its verdict.
    #[serde(flatten)]
    pub judged: JudgedRatio,

    /// The difference to the baseline, in microseconds.
    pub difference_microseconds: Option<f64>,

    /// Lower end of the difference's 95 % interval. Absent with one block.
    pub difference_low_microseconds: Option<f64>,

    /// Upper end of the difference's 95 % interval. Absent with one block.
    pub difference_high_microseconds: Option<f64>,
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
