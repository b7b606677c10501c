//! The open-loop sweep: latency at a given rate of requests, counted from when each was due.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests at a fixed rate, on a schedule that does not wait for answers. A trial first finds the rate
/// that the subject reaches when it is asked as fast as it answers (its peak), then asks at a percentage
/// of it, and counts every latency from the moment at which the request was due.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct OpenLoop {
    /// Rates in percent of the subject's own peak, one sweep point each.
    #[serde(default = "default_rates")]
    #[schemars(
        length(min = 1, max = 8),
        inner(range(min = 1, max = 99)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub rates_percent_of_peak: Vec<u32>,

    /// Connections over which the requests go in turn, at the peak as well. A request whose connection
    /// still waits for an answer is sent later, and the wait counts: take enough of them.
    #[serde(default = "default_connections")]
    #[schemars(range(min = 1, max = 512))]
    pub connections: u32,

    /// Length of the timed window of a trial, in seconds. It is shorter where it would hold more than a
    /// million requests.
    #[serde(default = "default_duration")]
    #[schemars(range(min = 1, max = 600))]
    pub duration_seconds: u32,

    /// Load before anything is measured, which is discarded, in seconds.
    #[serde(default = "default_warmup")]
    #[schemars(range(min = 0, max = 120))]
    pub warmup_seconds: u32,

    /// For how long the peak is measured, in seconds.
    #[serde(default = "default_peak")]
    #[schemars(range(min = 1, max = 60))]
    pub peak_seconds: u32,
}

impl OpenLoop {
    /// The rates in percent of the peak, in rising order.
    pub fn percents(&self) -> Vec<u32> {
        let mut percents = self.rates_percent_of_peak.clone();
        percents.sort_unstable();
        percents.dedup();
        percents
    }
}

fn default_rates() -> Vec<u32> {
    vec![50, 70, 90]
}
fn default_connections() -> u32 {
    50
}
fn default_duration() -> u32 {
    10
}
fn default_warmup() -> u32 {
    5
}
fn default_peak() -> u32 {
    5
}
