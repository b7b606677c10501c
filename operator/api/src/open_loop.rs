//! The open-loop sweep: latency at a given request rate, counted from when each request was due.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::validation;
pub use crate::validation::RATES_MESSAGE;

/// The highest rate, in requests per second. At this one a window ends after five seconds, because
/// it has at most a million requests.
pub const HIGHEST_RATE: u32 = 200_000;

/// Percentages of the baseline's peak if neither field for rates is set.
const DEFAULT_PERCENTS: [u32; 3] = [50, 70, 90];

/// Requests at a fixed rate, the same for all variants, on a schedule that does not wait for
/// answers. Each latency counts from the moment when the request was due.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(validation::RATES_RULE).message(validation::RATES_MESSAGE))]
pub struct OpenLoop {
    /// Rates in requests per second, one sweep point each, e.g. `[200, 500]`: what your users
    /// request.
    #[schemars(
        length(min = 1, max = 8),
        inner(range(min = 1, max = HIGHEST_RATE)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub rates: Option<Vec<u32>>,

    /// Without `rates`: rates in percent of the baseline's peak, one sweep point each. The
    /// baseline's scout measures the peak once, in a closed loop. Default: 50, 70 and 90.
    #[schemars(
        length(min = 1, max = 8),
        inner(range(min = 1, max = 99)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub rates_percent_of_peak: Option<Vec<u32>>,

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

    /// How long the baseline's peak is measured, in seconds; only without `rates`.
    #[serde(default = "default_peak")]
    #[schemars(range(min = 1, max = 60))]
    pub peak_seconds: u32,
}

impl OpenLoop {
    /// Returns the rates in requests per second, in ascending order; none where they are shares of
    /// the peak.
    pub fn rps(&self) -> Vec<u32> {
        ascending(self.rates.as_deref().unwrap_or_default())
    }

    /// Returns the rates in percent of the baseline's peak, in ascending order; none where they are
    /// given in requests per second.
    pub fn percents(&self) -> Vec<u32> {
        match (&self.rates, &self.rates_percent_of_peak) {
            (Some(_), _) => vec![],
            (None, Some(percents)) => ascending(percents),
            (None, None) => DEFAULT_PERCENTS.to_vec(),
        }
    }
}

fn ascending(rates: &[u32]) -> Vec<u32> {
    let mut rates = rates.to_vec();
    rates.sort_unstable();
    rates.dedup();
    rates
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
