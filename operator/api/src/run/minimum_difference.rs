//! The smallest differences that matter in absolute terms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest differences that matter in absolute terms, where a ratio says little: for cold
/// starts, most of which is the cluster's time, and for the memory of small pods.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MinimumDifference {
    /// For cold starts, in milliseconds. They are judged only by their difference.
    #[serde(default = "start_milliseconds")]
    #[schemars(range(min = 1, max = 60_000))]
    pub start_milliseconds: u32,

    /// For memory, in KiB. Memory that differs by less is equivalent, whatever the ratio.
    #[serde(default = "memory_kibibytes")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub memory_kibibytes: u32,
}

impl Default for MinimumDifference {
    fn default() -> Self {
        Self {
            start_milliseconds: start_milliseconds(),
            memory_kibibytes: memory_kibibytes(),
        }
    }
}

fn start_milliseconds() -> u32 {
    10
}

fn memory_kibibytes() -> u32 {
    512
}
