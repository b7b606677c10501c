//! What the status says about loads on a schedule.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::is_zero;

/// Latency at a fixed rate, counted from when each request was due. Medians over the run's blocks.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OpenLoopPoint {
    /// The rate in percent of the subject's own peak.
    pub percent_of_peak: u32,

    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that failed, were skipped or were invalid, and are not part of the numbers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the point is invalid, as words separated by commas. Absent for a valid point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// Requests per second that were asked for.
    pub requested_rps: f64,

    /// The smallest part of that rate, in percent, that a valid trial kept; below 98 the point is
    /// void.
    pub achieved_percent: f64,

    /// Median latency from the schedule, in microseconds.
    pub p50_microseconds: f64,

    /// 99th percentile of latency from the schedule, in microseconds.
    pub p99_microseconds: f64,

    /// 99th percentile of the service time of the same requests, in microseconds: what a closed loop
    /// would have told.
    pub service_p99_microseconds: f64,

    /// True when not every valid trial has the 1000 requests that a p99 needs: single requests decide both.
    /// Absent otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub p99_not_carried: bool,

    /// True for what the run was to decide. Absent for the others, which are corrected apart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub primary: bool,

    /// The p99 from the schedule as a multiple of the baseline's at the same percentage, taken within
    /// blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,

    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,

    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,

    /// `Faster`, `Slower`, `Equivalent` or `Inconclusive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub verdict: Option<String>,

    /// Why not to trust it, although it stands. Absent where nothing speaks against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub untrusted: Option<String>,
}
