//! What the status says about capacity.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged_ratio::JudgedRatio;
use crate::absent::is_zero;

/// The highest rate that meets the target. The ratio is that of `rps`.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CapacityStatus {
    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that `trials` does not count: failed, skipped or invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the result is not compared, as words separated by commas. Absent if it is valid.
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// The target: the 99th percentile that must not be exceeded, in microseconds.
    pub target_p99_microseconds: f64,

    /// The highest rate that meets the target, in requests per second: the median over blocks.
    /// Absent if the median lies beyond an end of the ladder.
    pub rps: Option<f64>,

    /// Lower end of the interval of the median. Absent where it lies below the ladder.
    pub rps_low: Option<f64>,

    /// Upper end of the interval of the median. Absent where it lies above the ladder.
    pub rps_high: Option<f64>,

    /// Trials in which even the first rung missed the target.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub below_trials: u32,

    /// Trials in which even the last rung met the target.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub above_trials: u32,

    /// What a CPU or memory limit did to the subject, in words. Absent if it did nothing.
    #[schemars(length(max = 256))]
    pub limited: Option<String>,

    /// The rungs of the ladder, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "atomic"))]
    pub rungs: Vec<RungStatus>,

    /// Capacity as a multiple of the baseline's, and its verdict.
    #[serde(flatten)]
    pub judged: Option<JudgedRatio>,
}

/// A rung of the ladder: medians over the blocks that reached it.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct RungStatus {
    /// The rate, in requests per second.
    pub requested_rps: f64,

    /// 99th percentile of latency, counted from when each request was due, in microseconds.
    pub p99_microseconds: f64,

    /// Blocks that reached the rung.
    pub trials: u32,

    /// Blocks in which it met the target.
    pub met_trials: u32,
}
