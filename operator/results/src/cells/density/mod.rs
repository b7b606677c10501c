//! Density: records in, numbers out. The unit is one climb of the ladder, and its number is a
//! slope: the memory of one more instance.
//!
//! Reading order: [`crate::read::density_trial`] (the numbers of one record), [`mod@cells`] (all blocks of a cell),
//! [`validity`] with [`disturbed_steps`] (which cells count, and why others do not), [`mod@ended`] (where
//! climbs ended).

mod blocks;
mod cells;
pub mod disturbed_steps;
mod ended;
mod validity;

use serde::{Deserialize, Serialize};
use wasmbench_model::wire::density::DensityStopReason;

use crate::statistics::Spread;
use crate::vocabulary::cell::{ByBlock, CellSummary};
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::Metric;

pub use cells::cell;
pub use ended::ended;

/// A cell of density.
pub type DensityCell = CellSummary<DensityDetail>;

/// What only cells of density have.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityDetail {
    /// Steps at which requests failed or something other than the variant was measured too, over
    /// all measured climbs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disturbed_steps: Vec<DisturbedStep>,
    /// Memory of one more instance, in bytes: the slopes of the blocks. Absent unless memory was
    /// read at two steps or more.
    pub bytes_per_instance: Option<Spread>,
    /// By how much the node's available memory shrank per instance, in bytes: the same quantity as
    /// reported by the node.
    pub node_bytes_per_instance: Option<Spread>,
    /// The steps, by instances.
    pub steps: Vec<DensityStepSummary>,
    /// Climbs that ended before their last step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stopped: Vec<DensityEnd>,
    /// One entry per valid block; without any, one per measured block.
    pub blocks: Vec<DensityBlock>,
}

impl DensityDetail {
    /// The measures, each with one number per valid block.
    pub fn series(&self) -> Vec<(Metric, ByBlock)> {
        let blocks = self.blocks.iter();
        let slopes = blocks.filter_map(|block| Some((block.block, block.bytes_per_instance?)));
        vec![(Metric::MemoryPerInstance, slopes.collect())]
    }
}

/// A number of instances, over all blocks that reached this step: medians with their intervals.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityStepSummary {
    /// Instances that ran.
    pub instances: u32,
    /// Blocks that reached this step.
    pub trials: u32,
    /// From the first creation of the step to the last first correct answer, in microseconds.
    pub all_answered_microseconds: Spread,
    /// Median latency of the first instance while the others idle, in microseconds.
    pub first_p50_microseconds: Option<Spread>,
    /// Memory of all pods and the memory that their shims do not share, in bytes.
    pub sandboxes_bytes: Option<Spread>,
    /// The part of it that belongs to the pods.
    pub pods_bytes: Option<Spread>,
}

/// A step at which requests failed or something other than the variant was measured too.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DisturbedStep {
    /// Instances that ran.
    pub instances: u32,
    /// `ErrorsInLoad`, `LoadGeneratorSaturated`, `NodeNoisy` or `Throttled`.
    pub reason: Reason,
    /// Blocks in which this happened.
    pub trials: u32,
    /// How bad it was: `31 % used by others` in the worst block, or in total `4 periods` (and how much of
    /// its window in the worst block) or `12 failed requests`.
    pub message: String,
}

/// Climbs that ended at the same step for the same reason.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub struct DensityEnd {
    /// The most instances that were measured.
    pub reached: u32,
    /// Instances that the next step would have had.
    pub at: u32,
    /// Instances in the last step of the sweep.
    pub planned: u32,
    /// Why the climbs ended.
    pub reason: DensityStopReason,
    /// What was seen in the first of these climbs.
    pub message: String,
    /// The number of blocks.
    pub trials: u32,
}

/// One block.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityBlock {
    /// Number of the block, counted from 1.
    pub block: u32,
    /// The most instances that were measured.
    pub instances: u32,
    /// Slope of memory over instances, in bytes.
    pub bytes_per_instance: Option<f64>,
}
