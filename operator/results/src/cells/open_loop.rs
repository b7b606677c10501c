//! Loads on a schedule: what one trial measured, and the summary of a point. The points are cells
//! like those of other loads; this module has what is specific to schedules.

use serde::{Deserialize, Serialize};
use wasmbench_model::open_loop::LEAST_ACHIEVED;
use wasmbench_model::rounding::round_number;

use crate::read::open_loop_trial::OpenLoopTrial;
use crate::read::trial::{Trial, TrialState};
use crate::statistics::Spread;

/// A point over its valid trials, or over the invalid ones if there are no others: medians with
/// their intervals.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OpenLoopSummary {
    /// Requests per second on the schedule: the same for all variants.
    pub requested_rps: Spread,
    /// The smallest share of the requested rate that a trial achieved.
    pub achieved_share_min: f64,
    /// Share of the requests that waited for a connection.
    pub waited_share: Spread,
    /// Median latency from the schedule, in microseconds.
    pub p50_microseconds: Spread,
    /// 90th percentile of latency from the schedule, in microseconds.
    pub p90_microseconds: Spread,
    /// 99th percentile of latency from the schedule, in microseconds.
    pub p99_microseconds: Spread,
    /// 99.9th percentile of latency from the schedule, in microseconds; absent unless every trial
    /// has 10,000 requests.
    pub p999_microseconds: Option<Spread>,
    /// Median delay of the generator, in microseconds. It is not part of the latencies.
    pub generator_p50_microseconds: Spread,
    /// 99th percentile of the generator's delay, in microseconds.
    pub generator_p99_microseconds: Spread,
}

impl OpenLoopSummary {
    /// Whether a trial lost the rate: it then measured another load than its point requests.
    pub fn lost_the_rate(&self) -> bool {
        self.achieved_share_min < LEAST_ACHIEVED
    }

    /// Whether the generator's delay exceeded the latency itself: requests that were due evenly
    /// then came in bursts, and the generator may have caused the tail latency.
    pub fn may_be_the_generators(&self) -> bool {
        self.generator_p99_microseconds.median > self.p99_microseconds.median
    }
}

/// The summary of the trials in this state; `None` if none had a schedule.
pub fn summary(trials: &[Trial], shown: TrialState) -> Option<OpenLoopSummary> {
    let trials: Vec<OpenLoopTrial> = trials
        .iter()
        .filter(|trial| trial.state == shown)
        .filter_map(|trial| trial.metrics.open_loop)
        .collect();
    let spread = |number: fn(&OpenLoopTrial) -> f64| {
        let found = Spread::from_values(trials.iter().map(number))?;
        Some(found.map(round_number))
    };
    let p999: Option<Vec<f64>> = trials.iter().map(|trial| trial.p999_microseconds).collect();
    let kept = trials.iter().map(|trial| trial.achieved_share);
    Some(OpenLoopSummary {
        requested_rps: spread(|trial| trial.requested_rps)?,
        achieved_share_min: kept.reduce(f64::min)?,
        waited_share: spread(|trial| trial.waited_share)?,
        p50_microseconds: spread(|trial| trial.p50_microseconds)?,
        p90_microseconds: spread(|trial| trial.p90_microseconds)?,
        p99_microseconds: spread(|trial| trial.p99_microseconds)?,
        p999_microseconds: p999.and_then(Spread::from_values),
        generator_p50_microseconds: spread(|trial| trial.generator_p50_microseconds)?,
        generator_p99_microseconds: spread(|trial| trial.generator_p99_microseconds)?,
    })
}

/// A share of the rate in percent, truncated and not rounded: 97.96 % is below 98 %.
pub fn achieved(share: f64) -> String {
    format!("{:.1} %", (share * 1000.0).floor() / 10.0)
}
