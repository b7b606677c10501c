//! What the status says about density.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::is_zero;

/// What one more instance costs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityStatus {
    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that failed or were skipped, and are not part of the numbers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why it is not compared, as words separated by commas. Absent for what is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// The most instances that ran at once.
    pub instances: u32,

    /// Trials that ended before the last step, because the node was full or too slow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped_trials: u32,

    /// Memory of one more instance, its shim included, in bytes: the median over blocks of the slope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_instance: Option<f64>,

    /// True for what the run was to decide. Absent for the others, which are corrected apart.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub primary: bool,

    /// The same as a multiple of the baseline's, taken within blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,

    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,

    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,

    /// `Smaller`, `Larger`, `Equivalent` or `Inconclusive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub verdict: Option<String>,

    /// Why not to trust it, although it stands. Absent where nothing speaks against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub untrusted: Option<String>,
}
