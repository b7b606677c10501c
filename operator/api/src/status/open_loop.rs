//! What the status says about the open-loop sweep.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged_ratio::JudgedRatio;
use crate::absent::is_zero;

/// Latency at a fixed rate, counted from when each request was due. Medians over the run's blocks.
/// The ratio is that of `p99Microseconds`, at the same rate.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OpenLoopPoint {
    /// The rate in percent of the baseline's peak. Absent if the run states its rates in requests per
    /// second.
    pub percent_of_peak: Option<u32>,

    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that `trials` does not count: failed, skipped or invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the point is invalid, as words separated by commas. Absent for a valid point.
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// The scheduled rate, in requests per second: the same for all variants.
    pub requested_rps: f64,

    /// The smallest percentage of that rate that a trial achieved; below 98 the point is invalid.
    pub achieved_percent: f64,

    /// Median latency, counted from when each request was due, in microseconds.
    pub p50_microseconds: f64,

    /// 99th percentile of latency, counted from when each request was due, in microseconds.
    pub p99_microseconds: f64,

    /// 99th percentile of the service time of the same requests, in microseconds: what a closed
    /// loop would have reported.
    pub service_p99_microseconds: f64,

    /// True if a valid trial has fewer than the 1000 requests that a p99 needs, so that single
    /// requests decide both p99 values. Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub p99_not_carried: bool,

    /// `p99Microseconds` as a multiple of the baseline's at the same rate, and its verdict.
    #[serde(flatten)]
    pub judged: Option<JudgedRatio>,
}
