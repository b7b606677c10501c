//! What the status says about density.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::judged_ratio::JudgedRatio;
use crate::absent::is_zero;

/// What one more instance costs. The ratio is that of `bytesPerInstance`.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityStatus {
    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that `trials` does not count: failed, skipped or invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the result is not compared, as words separated by commas. Absent if it is valid.
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// The most instances that ran at once.
    pub instances: u32,

    /// Trials that ended before the last step, because the node was full or too slow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped_trials: u32,

    /// Memory of one more instance, including its shim, in bytes: the median over blocks of the
    /// slope.
    pub bytes_per_instance: Option<f64>,

    /// Memory of one more instance as a multiple of the baseline's, and its verdict.
    #[serde(flatten)]
    pub judged: Option<JudgedRatio>,
}
