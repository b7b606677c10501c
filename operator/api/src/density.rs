//! The density sweep: what one more instance costs on a node that already has some.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::number;

/// More and more instances of the variant at once, all idle but the first. Each trial climbs the
/// whole ladder: at each step it waits until all instances have answered, sends requests to the
/// first one, and reads the memory of all.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Density {
    /// Numbers of instances, one step each, climbed in ascending order.
    #[serde(default = "default_instances")]
    #[schemars(
        length(min = 2, max = 12),
        inner(range(min = 1, max = 100)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub instances: Vec<u32>,

    /// Timed requests to the first instance at each step, on one connection.
    #[serde(default = "number::<1000>")]
    #[schemars(range(min = 10, max = 100_000))]
    pub requests: u32,

    /// When a trial ends before its last step. The completed steps count.
    #[serde(default)]
    pub stop: DensityStop,
}

/// When a trial ends before its last step. It also ends when the scheduler has no room for another
/// instance.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DensityStop {
    /// Percentage of the node's memory that must be available before instances are added.
    #[serde(default = "default_available")]
    #[schemars(range(min = 1, max = 90))]
    pub available_memory_percent: u32,

    /// Seconds within which all instances of a step must answer correctly.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 600))]
    pub timeout_seconds: u32,
}

impl Default for DensityStop {
    fn default() -> Self {
        Self {
            available_memory_percent: default_available(),
            timeout_seconds: default_timeout(),
        }
    }
}

impl Density {
    /// Returns the steps in the order in which they are climbed.
    pub fn ladder(&self) -> Vec<u32> {
        let mut ladder = self.instances.clone();
        ladder.sort_unstable();
        ladder.dedup();
        ladder
    }
}

fn default_instances() -> Vec<u32> {
    vec![1, 2, 5, 10, 20]
}
fn default_available() -> u32 {
    10
}
fn default_timeout() -> u32 {
    60
}
