//! How precise a run has to be.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::validation;

/// The fewest blocks of a run that has to be precise: narrow intervals of fewer blocks are luck.
pub const FEWEST_PRECISE_BLOCKS: u32 = 8;

/// How precise a run has to be, and what it may cost.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Precision {
    /// How far the 95 % interval of a ratio to the baseline may reach from it, in percent from
    /// `0.1%` to `50%`: `5%` reaches from the ratio divided by 1.05 to the ratio times 1.05. All
    /// ratios that get a verdict have to keep it, for four blocks in a row.
    #[serde(default = "default_target")]
    #[schemars(length(min = 2, max = 5))]
    #[x_kube(validation = Rule::new(validation::MINIMUM_EFFECT_RULE).message(validation::TARGET_MESSAGE))]
    pub target_relative_interval: String,

    /// The most blocks that may be spent on it.
    #[serde(default = "default_max_blocks")]
    #[schemars(range(min = 8, max = 50))]
    pub max_blocks: u32,
}

fn default_target() -> String {
    "5%".to_owned()
}

fn default_max_blocks() -> u32 {
    20
}
