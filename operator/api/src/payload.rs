//! The payload sweep: what the bytes of bodies cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::number;

pub use crate::validation::PAYLOAD_MESSAGE;

/// The largest body of a request, in bytes: what the presets take.
pub const MAX_BODY_BYTES: u32 = 1024 * 1024;

/// Requests with bodies of several sizes, each of which the subject sends back. Each trial measures
/// all sizes in one pod, and fits the subject's CPU time per request to a fixed cost and a cost per
/// megabyte. The requests are the sweep's own: of the workload, only the first answer is awaited.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Payload {
    /// Sizes of the body in bytes, measured in ascending order.
    #[serde(default = "default_bytes")]
    #[schemars(
        length(min = 2, max = 8),
        inner(range(min = 0, max = MAX_BODY_BYTES)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub bytes: Vec<u32>,

    /// Path and query to which bodies are sent by POST. It answers with the body that it got; all
    /// presets of gateways do so at `/echo`.
    #[serde(default = "default_path")]
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^/[!-~]*$"))]
    pub path: String,

    /// Connections that carry the load.
    #[serde(default = "number::<4>")]
    #[schemars(range(min = 1, max = 512))]
    pub connections: u32,

    /// Length of the timed window of each size, in seconds.
    #[serde(default = "number::<4>")]
    #[schemars(range(min = 1, max = 600))]
    pub duration_seconds: u32,

    /// Length of the discarded warm-up before each of these windows, in seconds; up to three times
    /// as long while the rate is still changing.
    #[serde(default = "number::<2>")]
    #[schemars(range(min = 0, max = 120))]
    pub warmup_seconds: u32,
}

impl Payload {
    /// Returns the sizes in bytes, in the order in which they are measured.
    pub fn sizes(&self) -> Vec<u32> {
        let mut sizes = self.bytes.clone();
        sizes.sort_unstable();
        sizes.dedup();
        sizes
    }
}

fn default_bytes() -> Vec<u32> {
    vec![0, 1024, 16 * 1024, 256 * 1024, MAX_BODY_BYTES]
}
fn default_path() -> String {
    "/echo".to_owned()
}
