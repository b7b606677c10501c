//! The open-loop sweep: latency at a given request rate, counted from when each request was due, or
//! the highest rate at which that latency meets a target.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::absent::number;
use crate::validation;
pub use crate::validation::{RATES_MESSAGE, RUNGS_MESSAGE, TARGET_P99_MESSAGE};

/// The highest rate, in requests per second. At this one a window ends after five seconds, because
/// it has at most a million requests.
pub const HIGHEST_RATE: u32 = 200_000;

/// Percentages of the baseline's peak if neither field for rates is set.
const DEFAULT_PERCENTS: [u32; 3] = [50, 70, 90];

/// The lowest rate of a ladder, in requests per second: a thousand requests then take nine minutes.
pub const LOWEST_RUNG: u32 = 2;

/// The longest latency of a target, in milliseconds: half of the time after which a request fails.
const LONGEST_TARGET_MILLISECONDS: u32 = 5000;

/// Requests at a fixed rate, the same for all variants, on a schedule that does not wait for
/// answers. Each latency counts from the moment when the request was due. With a `target`, each
/// trial climbs a ladder of rates in one pod, and the result is the subject's capacity: the highest
/// rate that meets the target.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(validation::RATES_RULE).message(validation::RATES_MESSAGE))]
#[x_kube(validation = Rule::new(validation::RUNGS_RULE).message(validation::RUNGS_MESSAGE))]
pub struct OpenLoop {
    /// The latency that requests must have, e.g. `{p99: 50ms}`. The sweep then has one point and
    /// measures `capacity`, the highest rate at which they have it.
    pub target: Option<Target>,

    /// Rates in requests per second, one sweep point each, e.g. `[200, 500]`: what your users
    /// request. With a `target`, the rungs of the ladder: two or more, from 2 requests per second on,
    /// and around where you expect the capacity: what lies between two of them is found by halving.
    /// Default with a `target`: eight, from 0.3 to 1.3 of the baseline's peak.
    #[schemars(
        length(min = 1, max = 8),
        inner(range(min = 1, max = HIGHEST_RATE)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub rates: Option<Vec<u32>>,

    /// Without `rates` and `target`: rates in percent of the baseline's peak, one sweep point each.
    /// The baseline's scout measures the peak once, in a closed loop. Default: 50, 70 and 90.
    #[schemars(
        length(min = 1, max = 8),
        inner(range(min = 1, max = 99)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub rates_percent_of_peak: Option<Vec<u32>>,

    /// Connections that take turns sending the requests, also while the peak is measured. A request
    /// whose connection is still waiting for an answer is sent later, and the wait counts: use
    /// enough of them.
    #[serde(default = "number::<50>")]
    #[schemars(range(min = 1, max = 512))]
    pub connections: u32,

    /// Length of a trial's timed window, or of that of each rung, in seconds; shorter if it would
    /// contain more than 1,000,000 requests, and for a rung longer if it would contain fewer than
    /// 1000.
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1, max = 600))]
    pub duration_seconds: u32,

    /// Length of the discarded warm-up, in seconds; up to three times as long while the rate is
    /// still changing.
    #[serde(default = "number::<5>")]
    #[schemars(range(min = 0, max = 120))]
    pub warmup_seconds: u32,

    /// How long the baseline's peak is measured, in seconds; only without `rates`.
    #[serde(default = "number::<5>")]
    #[schemars(range(min = 1, max = 60))]
    pub peak_seconds: u32,
}

/// The latency that requests must have, counted from when each was due.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// The 99th percentile that must not be exceeded, in milliseconds from `1ms` to `5000ms`. Under
    /// a CPU limit, choose more than the 100 ms of its period.
    #[schemars(length(min = 2, max = 6))]
    #[x_kube(validation = Rule::new(validation::TARGET_P99_RULE).message(validation::TARGET_P99_MESSAGE))]
    pub p99: String,
}

impl Target {
    /// Returns the 99th percentile in microseconds; `None` if it is no latency from 1 to 5000 ms.
    pub fn p99_microseconds(&self) -> Option<f64> {
        let milliseconds: u32 = self.p99.strip_suffix("ms")?.parse().ok()?;
        let is_allowed = (1..=LONGEST_TARGET_MILLISECONDS).contains(&milliseconds);
        is_allowed.then(|| f64::from(milliseconds) * 1e3)
    }
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
            (None, _) if self.target.is_some() => vec![],
            (None, Some(percents)) => ascending(percents),
            (None, None) => DEFAULT_PERCENTS.to_vec(),
        }
    }

    /// Returns whether the rates follow from the baseline's peak.
    pub fn needs_peak(&self) -> bool {
        self.rates.is_none()
    }

    /// Returns the target in microseconds; `None` without one.
    pub fn target_microseconds(&self) -> Option<f64> {
        self.target.as_ref()?.p99_microseconds()
    }
}

fn ascending(rates: &[u32]) -> Vec<u32> {
    let mut rates = rates.to_vec();
    rates.sort_unstable();
    rates.dedup();
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_latency_in_milliseconds() {
        let target = |p99: &str| Target { p99: p99.into() }.p99_microseconds();
        assert_eq!(target("50ms"), Some(50_000.0));
        assert_eq!(target("5000ms"), Some(5_000_000.0));
        for wrong in ["", "ms", "0ms", "5001ms", "50", "-1ms", "1.5ms", "5s"] {
            assert_eq!(target(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn with_a_target_no_rate_is_a_share_of_the_peak() {
        let sweep = |text: &str| -> OpenLoop { serde_json::from_str(text).unwrap() };
        let capacity = sweep(r#"{"target": {"p99": "50ms"}}"#);
        assert!(capacity.percents().is_empty() && capacity.needs_peak());
        assert_eq!(sweep("{}").percents(), DEFAULT_PERCENTS);
        assert!(!sweep(r#"{"rates": [200, 300]}"#).needs_peak());
    }
}
