//! The latencies of all requests of a point together, whichever trial they belong to: their histograms
//! are merged. A tail that only some trials have is seen here and not in a median over trials, and
//! together the trials carry a p99.9. It describes; comparisons go by trials, which are independent.

use serde::{Deserialize, Serialize};
use wasmbench_core::rounding::{TIME_DIGITS, round_significant};

use crate::histogram::{Histogram, Merged};
use crate::trial::{Trial, TrialState, carries};

/// Percentiles over all requests of a point, in microseconds; absent where too few lie beyond one.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct AllRequests {
    /// Successful requests of all trials.
    pub requests: u64,
    /// Median.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50_microseconds: Option<f64>,
    /// 90th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p90_microseconds: Option<f64>,
    /// 99th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_microseconds: Option<f64>,
    /// 99.9th percentile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p999_microseconds: Option<f64>,
}

/// Over the valid trials; none where no request was answered.
pub fn of_trials(trials: &[Trial]) -> Option<AllRequests> {
    let is_valid = |trial: &&Trial| trial.state == TrialState::Valid;
    let valid = trials.iter().filter(is_valid);
    let histograms: Vec<&Histogram> = valid.map(|trial| &trial.metrics.latency).collect();
    let all = Merged(&histograms);
    let requests = all.count();
    let percentile = |share: f64, one_in: u64| {
        let value = all
            .percentile(share)
            .filter(|_| carries(requests, one_in))?;
        Some(round_significant(value, TIME_DIGITS))
    };
    (requests > 0).then(|| AllRequests {
        requests,
        p50_microseconds: percentile(0.5, 2),
        p90_microseconds: percentile(0.9, 10),
        p99_microseconds: percentile(0.99, 100),
        p999_microseconds: percentile(0.999, 1000),
    })
}
