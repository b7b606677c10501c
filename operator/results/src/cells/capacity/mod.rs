//! Capacity: records in, numbers out. The unit is one climb of the ladder, and its number is the rate at
//! which the target is crossed.
//!
//! Reading order: [`wasmbench_model::ladder`] (what one climb shows), [`mod@cells`] (all blocks of a
//! cell), [`rungs`] (the rungs over all blocks), [`limits`] (what limits did to the subject).

mod cells;
pub mod limits;
mod rungs;

use serde::{Deserialize, Serialize};
use wasmbench_api::absent::is_zero;
use wasmbench_model::ladder::{Capacity, Outcome};
use wasmbench_model::units;

use crate::cells::capacity::limits::Limits;
use crate::cells::noisy_trials::are_too_many;
use crate::statistics::{BoundedSpread, OneSided, Spread};
use crate::vocabulary::cell::{ByBlock, CellSummary, EndsByBlock};
use crate::vocabulary::measure::Metric;

pub use cells::cell;

/// A cell of capacity.
pub type CapacityCell = CellSummary<CapacityDetail>;

/// What only cells of capacity have.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CapacityDetail {
    /// The target: the 99th percentile from the schedule that must not be exceeded, in microseconds.
    pub target_p99_microseconds: f64,
    /// Connections that carried the load.
    pub connections: u32,
    /// The highest rate that meets the target, in requests per second: the median of the blocks.
    pub rps: BoundedSpread,
    /// CPU time of the subject's pod per request, in microseconds, at the highest rung that met the
    /// target.
    pub cpu_microseconds_per_request: Option<Spread>,
    /// Memory of the subject's pod there, in bytes.
    pub memory_bytes: Option<Spread>,
    /// What limits did to the subject.
    pub limits: Limits,
    /// Blocks in which the node was noisy on a rung next to the crossing.
    #[serde(default)]
    pub noisy_blocks: u32,
    /// Blocks in which nothing shows whether it was, on a finished rung there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub noise_unknown_blocks: u32,
    /// The rungs over all blocks, in ascending order.
    pub rungs: Vec<RungSummary>,
    /// One entry per valid block; without any, one per measured block.
    pub blocks: Vec<CapacityBlock>,
}

/// A rung of the ladder, over all blocks that reached it: medians with their intervals, without the blocks
/// in which it shows nothing. What was tried between two rungs has none.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct RungSummary {
    /// The requested rate, in requests per second.
    pub requested_rps: f64,
    /// Blocks that reached this rung.
    pub trials: u32,
    /// Blocks in which it met the target.
    pub met: u32,
    /// Blocks in which it shows nothing, because the load generator was late.
    #[serde(default)]
    pub invalid: u32,
    /// The rate at which requests were sent, in requests per second.
    pub sent_rps: Option<Spread>,
    /// Median latency from the schedule, in microseconds.
    pub p50_microseconds: Option<Spread>,
    /// 99th percentile of latency from the schedule, in microseconds.
    pub p99_microseconds: Option<Spread>,
    /// The largest share (0 to 1) of requests that failed.
    pub failed_share_max: Option<f64>,
    /// The share (0 to 1) of the periods of a CPU limit in which it stopped the subject: the median.
    pub throttled_share_of_periods: Option<f64>,
}

/// One block.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBlock {
    /// Number of the block, counted from 1.
    pub block: u32,
    /// Its capacity, in requests per second, or the rung beyond which it lies. Absent if no rung shows
    /// anything.
    pub rps: Option<f64>,
    /// `AtLeast` if even the last rung met the target, `AtMost` if even the first one missed it. Absent
    /// where the target is crossed.
    pub bound: Option<OneSided>,
    /// CPU time of the subject's pod per request, in microseconds, at the highest rung that met the
    /// target.
    pub cpu_microseconds_per_request: Option<f64>,
    /// Memory of the subject's pod there, in bytes.
    pub memory_bytes: Option<f64>,
    /// The rungs.
    pub rungs: Vec<BlockRung>,
}

/// A rung of a block.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct BlockRung {
    /// The requested rate, in requests per second.
    pub requested_rps: f64,
    /// What it shows.
    pub outcome: RungOutcome,
    /// The rate at which requests were sent, in requests per second. Absent, like all below, if the
    /// window was stopped because it took too long.
    pub sent_rps: Option<f64>,
    /// Median latency from the schedule, in microseconds. Absent, like the next, without a right answer.
    pub p50_microseconds: Option<f64>,
    /// 99th percentile of latency from the schedule, in microseconds.
    pub p99_microseconds: Option<f64>,
    /// Requests that failed.
    pub failed: Option<u64>,
    /// 99th percentile of the load generator's own delay, in microseconds.
    pub generator_p99_microseconds: Option<f64>,
}

/// What a rung shows.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
pub enum RungOutcome {
    /// It meets the target.
    Met,
    /// It does not.
    Missed,
    /// Nothing, because the load generator was late.
    Invalid,
}

impl From<Outcome> for RungOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Met => Self::Met,
            Outcome::Missed => Self::Missed,
            Outcome::Invalid => Self::Invalid,
        }
    }
}

impl CapacityBlock {
    /// The capacity; `None` if no rung shows anything.
    pub fn capacity(&self) -> Option<Capacity> {
        let rps = self.rps?;
        Some(match self.bound {
            None => Capacity::Crossed(rps),
            Some(OneSided::AtLeast) => Capacity::AtLeast(rps),
            Some(OneSided::AtMost) => Capacity::Below(rps),
        })
    }
}

impl CapacityDetail {
    /// The blocks that lie beyond this end of their ladder.
    pub fn beyond(&self, end: OneSided) -> u32 {
        let blocks = self.blocks.iter().filter(|block| block.bound == Some(end));
        u32::try_from(blocks.count()).unwrap_or(u32::MAX)
    }

    /// Whether even the first rung missed the target in every block.
    pub fn never_met(&self) -> bool {
        self.beyond(OneSided::AtMost) as usize == self.blocks.len()
    }

    /// The measures, each with one number per valid block. Where a block has only a bound, there is no
    /// number to average, follow or export.
    pub fn series(&self) -> Vec<(Metric, ByBlock)> {
        let numbers: Option<ByBlock> = self
            .blocks
            .iter()
            .map(|block| Some((block.block, block.capacity()?.crossed()?)))
            .collect();
        vec![(Metric::Capacity, numbers.unwrap_or_default())]
    }

    /// What each block shows at least and at most, where some show only a bound; empty otherwise.
    pub fn ends(&self) -> EndsByBlock {
        if self.blocks.iter().all(|block| block.bound.is_none()) {
            return EndsByBlock::new();
        }
        let blocks = self.blocks.iter();
        let ends = blocks.filter_map(|block| Some((block.block, block.capacity()?.ends())));
        ends.collect()
    }

    /// Whether the node was noisy in more of the blocks than a comparison tolerates.
    pub fn is_noisy(&self) -> bool {
        let blocks = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        are_too_many(self.noisy_blocks, blocks)
    }

    /// The median, or what is known of it, in words: `420/s`, `at least 600/s`; `None` where nothing is.
    pub fn text(&self) -> Option<String> {
        let BoundedSpread { median, low, high } = self.rps;
        let rate = |rps: f64| format!("{}/s", units::rate(rps));
        let bound = |bound: OneSided, rps: f64| format!("{} {}", bound.text(), rate(rps));
        match (median, low, high) {
            (Some(median), _, _) => Some(rate(median)),
            (None, Some(low), None) => Some(bound(OneSided::AtLeast, low)),
            (None, None, Some(high)) => Some(bound(OneSided::AtMost, high)),
            (None, Some(low), Some(high)) => Some(format!("{} to {}", rate(low), rate(high))),
            (None, None, None) => None,
        }
    }
}
