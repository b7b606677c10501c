//! The open-loop sweep: latency at a given request rate, counted from when each request was due.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Requests at a fixed rate, on a schedule that does not wait for answers. A trial first measures
/// the subject's peak rate in a closed loop, then sends at a percentage of it, and counts each
/// latency from the moment when the request was due.
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

    /// Connections that take turns sending the requests, also while the peak is measured. A request
    /// whose connection is still waiting for an answer is sent later, and the wait counts: use
    /// enough of them.
    #[serde(default = "default_connections")]
    #[schemars(range(min = 1, max = 512))]
    pub connections: u32,

    /// Length of a trial's timed window, in seconds; shorter if it would contain more than
    /// 1,000,000 requests.
    #[serde(default = "default_duration")]
    #[schemars(range(min = 1, max = 600))]
    pub duration_seconds: u32,

    /// Length of the discarded warm-up, in seconds; up to three times as long while the rate is
    /// still changing.
    #[serde(default = "default_warmup")]
    #[schemars(range(min = 0, max = 120))]
    pub warmup_seconds: u32,

    /// How long the peak is measured, in seconds.
    #[serde(default = "default_peak")]
    #[schemars(range(min = 1, max = 60))]
    pub peak_seconds: u32,
}

impl OpenLoop {
    /// Returns the rates in percent of the peak, in ascending order.
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
