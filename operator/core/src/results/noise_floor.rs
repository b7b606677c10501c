//! What the node does to a comparison by itself: the baseline against its twin.

use serde::{Deserialize, Serialize};

use super::compare::{Measured, Metric};
use super::statistics::round_significant;
use super::summary::Sweep;
use super::trial::SUMMARY_DIGITS;

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

impl NoiseFloor {
    /// The floor that `twin` shows.
    pub fn of(twin: &Measured<'_>) -> Self {
        let round = |value| round_significant(value, SUMMARY_DIGITS);
        let ratio = |log| round(libm::exp(log));
        Self {
            workload: twin.base.workload.clone(),
            metric: twin.metric,
            sweep: twin.base.sweep,
            connections: twin.base.connections,
            percent_of_peak: twin.base.percent_of_peak,
            ratio: ratio(twin.interval.estimate),
            low: twin.interval.low().map(ratio),
            high: twin.interval.high().map(ratio),
            factor: twin.interval.farthest().map(ratio),
            blocks: u32::try_from(twin.ratios.len()).unwrap_or(u32::MAX),
            per_block: twin.ratios.iter().copied().map(round).collect(),
        }
    }
}
