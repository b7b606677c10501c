//! The smallest differences that matter, where a share says little.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest differences that matter, where a share says little: of starts, most of which are the cluster's, and of the
/// memory of small pods.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct MinimumDifference {
    /// Of cold starts, in milliseconds. They are judged by their difference alone.
    #[serde(default = "start_milliseconds")]
    #[schemars(range(min = 1, max = 60_000))]
    pub start_milliseconds: u32,

    /// Of memory, in KiB. Memory that differs by less is equivalent, whatever share that is.
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
