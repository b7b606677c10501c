//! How the baseline and a variant stand beside each other in a block.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the baseline and a variant stand beside each other in a block.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
)]
pub enum Pairing {
    /// One trial after the other, in an order shuffled anew for each block.
    #[default]
    Alternating,
    /// Each variant is loaded at the same moment as the baseline, each on its half of the node's
    /// CPUs, so that what disturbs the node disturbs both and cancels in their ratio. For
    /// warmLatency and throughput. Needs two CPUs, and four to keep load generators apart. The
    /// numbers of such a run are those of a service with a busy neighbour.
    Duet,
}

impl Pairing {
    /// Whether it is what holds without a word.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
