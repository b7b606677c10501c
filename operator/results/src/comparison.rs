//! A variant as a multiple of the baseline, and the baseline as a multiple of itself.

use serde::{Deserialize, Serialize};

use crate::judge::Verdict;
use crate::measure::{Metric, Sweep};

/// A metric of a variant as a multiple of the baseline's.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// What is compared.
    pub metric: Metric,
    /// The sweep in which it is compared.
    pub sweep: Sweep,
    /// Connections at which it is compared: in the throughput sweep those of the baseline's knee.
    pub connections: u32,
    /// The rate at which it is compared, in percent of each variant's own peak; only in the open-loop
    /// sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_of_peak: Option<u32>,
    /// The ratio: the mean of the blocks' ratios on the log scale, trimmed by an eighth at each end.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent with one block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The chance of a ratio at least this far from 1 between equals.
    pub p_value: f64,
    /// The same, adjusted for the number of comparisons of the run (Benjamini and Hochberg).
    pub adjusted_p_value: f64,
    /// The factor above 1 that the baseline's twin may differ by; absent without a twin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,
    /// What it comes to.
    pub verdict: Verdict,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// The ratio of each of these blocks, in the order of the blocks.
    pub per_block: Vec<f64>,
}

impl Comparison {
    /// What is compared, and where a metric is compared at several points: `p99 from the schedule at 90 %
    /// of the peak`.
    pub fn what(&self) -> String {
        self.metric.at(self.percent_of_peak)
    }
}

/// How the baseline compares with itself in one metric. Never ranked.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct NoiseFloor {
    /// Name of the workload.
    pub workload: String,
    /// What is compared.
    pub metric: Metric,
    /// The sweep in which it is compared.
    pub sweep: Sweep,
    /// Connections at which it is compared.
    pub connections: u32,
    /// The rate at which it is compared, in percent of the peak; only in the open-loop sweep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent_of_peak: Option<u32>,
    /// The twin as a multiple of the baseline.
    pub ratio: f64,
    /// Lower end of its 95 % interval; absent with one block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// The end of the interval that is farther from 1, as a factor above 1: smaller differences are
    /// not resolvable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// The ratio of each of these blocks, in the order of the blocks.
    pub per_block: Vec<f64>,
}
