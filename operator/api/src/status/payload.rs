//! What the status says about payload.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::is_zero;

/// What the bytes of bodies cost. The ratios to the baseline are among `versusBaseline`.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PayloadStatus {
    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that `trials` does not count: failed, skipped or invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the result is not compared, as words separated by commas. Absent if it is valid.
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// CPU time per request without that for the bytes of its body, in microseconds.
    pub fixed_cpu_microseconds: Option<f64>,

    /// Lower end of its interval.
    pub fixed_cpu_low: Option<f64>,

    /// Upper end of its interval.
    pub fixed_cpu_high: Option<f64>,

    /// CPU time per megabyte of a body that the subject gets and sends back, in microseconds.
    pub cpu_microseconds_per_megabyte: Option<f64>,

    /// Lower end of its interval.
    pub cpu_per_megabyte_low: Option<f64>,

    /// Upper end of its interval.
    pub cpu_per_megabyte_high: Option<f64>,

    /// The sizes, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "atomic"))]
    pub sizes: Vec<PayloadSizeStatus>,
}

/// A size of the body: medians over the run's blocks.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PayloadSizeStatus {
    /// Bytes of the body.
    pub bytes: u32,

    /// Requests per second that were answered as expected.
    pub rps: Option<f64>,

    /// Megabytes of bodies per second that the subject got.
    pub received_megabytes_per_second: Option<f64>,

    /// Megabytes of bodies per second that it sent back.
    pub sent_megabytes_per_second: Option<f64>,

    /// CPU time of the subject's pod per request, in microseconds.
    pub cpu_microseconds_per_request: Option<f64>,
}
