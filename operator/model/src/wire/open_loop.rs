//! What a probe reports about a load on a schedule.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The rate of an open-loop point. All variants get the same.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Rate {
    /// In requests per second.
    #[serde(rename = "requestedRps")]
    Rps(u32),
    /// In percent of the baseline's peak.
    #[serde(rename = "percentOfPeak")]
    PercentOfPeak(u32),
}

impl Rate {
    /// The number alone.
    pub const fn number(self) -> u32 {
        match self {
            Self::Rps(number) | Self::PercentOfPeak(number) => number,
        }
    }

    /// The percentage, if the rate is one.
    pub const fn percent_of_peak(self) -> Option<u32> {
        match self {
            Self::PercentOfPeak(percent) => Some(percent),
            Self::Rps(_) => None,
        }
    }
}

impl fmt::Display for Rate {
    /// `200 requests/s` or `90 % of the baseline's peak`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rps(rps) => write!(f, "{rps} requests/s"),
            Self::PercentOfPeak(percent) => write!(f, "{percent} % of the baseline's peak"),
        }
    }
}

/// A timed window whose requests were due at fixed moments, regardless of the responses.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OpenLoopWindow {
    /// Connections that the requests used in turn.
    pub connections: u32,
    /// Requests per second on the schedule.
    pub requested_rps: f64,
    /// The time until the last request was due, divided by the time until it was sent: 1 if the
    /// load kept the rate.
    pub achieved_share: f64,
    /// Requests behind the numbers below.
    pub requests: u64,
    /// Share (0 to 1) of them that could not be sent when they were due, because the previous
    /// response on their connection was still outstanding.
    pub waited_share: f64,
    /// Time from sending a request to its response, of the expected responses.
    pub service: Quantiles,
    /// Time from when a request was due to its response, for a generator that is never late; of the
    /// expected responses.
    pub from_schedule: Quantiles,
    /// Requests without the expected response.
    #[serde(default)]
    pub failed: u64,
    /// The same of these, from when each was due to its other response, or to none; absent if there
    /// are none.
    pub failed_from_schedule: Option<Quantiles>,
    /// How late the generator was on top of that.
    pub generator_delay: Quantiles,
}

/// The rate that the baseline reaches when it is sent requests as fast as it answers them. Shares
/// of it are the rates of all variants.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Peak {
    /// Successful requests per second.
    pub rps: f64,
    /// Length of the load, in nanoseconds.
    pub duration_nanoseconds: u64,
    /// Requests that were not answered as expected.
    pub failed: u64,
    /// CPU time of others as a share (0 to 1) of all CPUs of the node.
    pub others_cpu_share: Option<f64>,
    /// CPU time that the hypervisor withheld, as a share (0 to 1) of all CPUs of the node.
    pub steal_share: Option<f64>,
    /// Share (0 to 1) of the load in which a task outside the subject's pod waited for memory.
    pub memory_wait_share: Option<f64>,
}

/// Exact percentiles, in microseconds: the smallest time that this many percent of the requests did
/// not exceed.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Quantiles {
    /// Median.
    pub p50_microseconds: f64,
    /// 90th percentile.
    pub p90_microseconds: f64,
    /// 99th percentile.
    pub p99_microseconds: f64,
    /// 99.9th percentile; absent with fewer than 10,000 requests, among which single ones would
    /// decide it.
    pub p999_microseconds: Option<f64>,
    /// The longest.
    pub max_microseconds: f64,
}
