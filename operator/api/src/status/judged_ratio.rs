//! A ratio to the baseline and what follows from it: the same fields for every sweep.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::is_zero;

/// A metric as a multiple of the baseline's, compared within each block.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct JudgedRatio {
    /// True for a primary measure. Absent for secondary ones, which are corrected separately.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub primary: bool,

    /// This variant's value divided by the baseline's in the same block, averaged over blocks on
    /// the log scale without the outermost eighth at each end.
    pub ratio: f64,

    /// Lower end of the 95 % interval of the ratio. Absent with one block, and where it is not known.
    pub low: Option<f64>,

    /// Upper end of the 95 % interval of the ratio. Absent with one block, and where it is not known.
    pub high: Option<f64>,

    /// `AtLeast` or `AtMost` if only one end of the interval is known, because blocks lie beyond an
    /// end of their ladder: `ratio` is then that end. Absent otherwise.
    #[schemars(length(max = 8))]
    pub bound: Option<String>,

    /// How far the baseline's twin may differ from the baseline, as a factor above 1. Absent
    /// without a twin.
    pub noise_floor: Option<f64>,

    /// `Faster` or `Slower` (rate, time), `Smaller` or `Larger` (CPU, memory), `Equivalent` (the
    /// difference does not matter: `minimumEffect`, `minimumDifference`) or `Inconclusive` (the
    /// data do not say).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(length(max = 32))]
    pub verdict: String,

    /// Why the ratio is untrusted although it is shown. Absent if nothing speaks against it.
    #[schemars(length(max = 128))]
    pub untrusted: Option<String>,

    /// Blocks in which both were measured.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub blocks: u32,
}
