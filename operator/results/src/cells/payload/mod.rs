//! Payload: records in, numbers out. The unit is one trial, which measures all sizes in one pod, and its
//! numbers are those of a line: a fixed cost per request and a cost per megabyte.
//!
//! Reading order: [`crate::read::payload_trial`] (the numbers of one record), [`mod@cells`] (all blocks
//! of a cell).

mod cells;

use serde::{Deserialize, Serialize};
use wasmbench_model::units;

use crate::cells::noisy_trials::are_too_many;
use crate::statistics::Spread;
use crate::vocabulary::cell::{ByBlock, CellSummary};
use crate::vocabulary::measure::Metric;

pub use cells::cell;

/// A cell of payload.
pub type PayloadCell = CellSummary<PayloadDetail>;

/// What only cells of payload have.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PayloadDetail {
    /// Path to which bodies were sent.
    pub path: String,
    /// Connections that carried the load.
    pub connections: u32,
    /// CPU time of the subject's pod per request, without that for the bytes of its body, in
    /// microseconds: the median of the blocks. Absent, like the next two, without CPU time at every
    /// size.
    pub fixed_cpu_microseconds: Option<Spread>,
    /// CPU time of the subject's pod per megabyte (1,000,000 bytes) of a body that it gets and sends
    /// back, in microseconds: the median of the blocks.
    pub cpu_microseconds_per_megabyte: Option<Spread>,
    /// How far a size lies from its block's line at most, as a share of its CPU time: the median of
    /// the blocks.
    pub off_line_share: Option<f64>,
    /// Requests that failed, over all measured blocks.
    pub errors: u64,
    /// Scheduler periods in which a CPU limit throttled the subject, over all valid blocks.
    #[serde(default)]
    pub throttled_periods: u64,
    /// The time for which it did, as a share of a window: the worst one.
    pub throttled_share: Option<f64>,
    /// Blocks in which the node was noisy.
    #[serde(default)]
    pub noisy_blocks: u32,
    /// The sizes over all blocks, in ascending order.
    pub sizes: Vec<SizeSummary>,
    /// One entry per valid block; without any, one per measured block.
    pub blocks: Vec<PayloadBlock>,
}

/// A size, over all blocks: medians with their intervals.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SizeSummary {
    /// Bytes of the body.
    pub bytes: u32,
    /// Blocks that measured it.
    pub trials: u32,
    /// Requests per second that were answered as expected.
    pub rps: Option<Spread>,
    /// Megabytes of bodies per second that the subject got.
    pub received_megabytes_per_second: Option<Spread>,
    /// Megabytes of bodies per second that it sent back.
    pub sent_megabytes_per_second: Option<Spread>,
    /// CPU time of the subject's pod per request, in microseconds.
    pub cpu_microseconds_per_request: Option<Spread>,
}

/// One block.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PayloadBlock {
    /// Number of the block, counted from 1.
    pub block: u32,
    /// The fixed cost, in microseconds.
    pub fixed_cpu_microseconds: Option<f64>,
    /// The cost per megabyte, in microseconds.
    pub cpu_microseconds_per_megabyte: Option<f64>,
    /// The sizes.
    pub sizes: Vec<BlockSize>,
}

/// A size in one block.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct BlockSize {
    /// Bytes of the body.
    pub bytes: u32,
    /// Requests per second that were answered as expected.
    pub rps: Option<f64>,
    /// CPU time of the subject's pod per request, in microseconds.
    pub cpu_microseconds_per_request: Option<f64>,
}

impl PayloadDetail {
    /// The measures, each with one number per valid block.
    pub fn series(&self) -> Vec<(Metric, ByBlock)> {
        let numbers = |number: fn(&PayloadBlock) -> Option<f64>| {
            let blocks = self.blocks.iter();
            let known = blocks.filter_map(|block| Some((block.block, number(block)?)));
            known.collect()
        };
        vec![
            (
                Metric::PayloadCpuPerMegabyte,
                numbers(|block| block.cpu_microseconds_per_megabyte),
            ),
            (
                Metric::PayloadFixedCpu,
                numbers(|block| block.fixed_cpu_microseconds),
            ),
        ]
    }

    /// Whether the node was noisy in more of the blocks than a comparison tolerates.
    pub fn is_noisy(&self) -> bool {
        let blocks = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        are_too_many(self.noisy_blocks, blocks)
    }

    /// Whether a CPU limit stopped the subject.
    pub const fn is_throttled(&self) -> bool {
        self.throttled_periods > 0
    }

    /// Both costs in words: `31.2 us per request + 412 us per MB`; `None` without them.
    pub fn text(&self) -> Option<String> {
        let fixed = units::micros(self.fixed_cpu_microseconds?.median);
        let slope = units::micros(self.cpu_microseconds_per_megabyte?.median);
        Some(format!("{fixed} per request + {slope} per MB"))
    }
}
