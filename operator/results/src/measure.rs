//! What is measured: the sweeps that load a subject, and the metrics that are compared.

use serde::{Deserialize, Serialize};
use wasmbench_api::run::ExpectedMetric;

/// The sweeps that load a subject.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Sweep {
    /// A fixed number of requests under very little load.
    WarmLatency,
    /// As many requests as the subject answers in a fixed time.
    Throughput,
    /// Requests at a fixed rate for a fixed time, whatever the answers do.
    OpenLoop,
}

/// What is compared.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Metric {
    /// Successful requests per second: more is better.
    ThroughputRps,
    /// Median latency in the warm-latency sweep: less is better.
    WarmP50,
    /// CPU time of the subject's pod per request: less is better.
    CpuPerRequest,
    /// Memory of the subject's pod: less is better.
    Memory,
    /// From the creation of a pod until its service listens: less is better.
    ColdStartListening,
    /// From the creation of a pod until its first correct answer: less is better.
    ColdStartAnswer,
    /// Median latency from the schedule at a percentage of the peak: less is better.
    OpenLoopP50,
    /// 99th percentile of it: less is better.
    OpenLoopP99,
}

impl From<ExpectedMetric> for Metric {
    fn from(expected: ExpectedMetric) -> Self {
        match expected {
            ExpectedMetric::ThroughputRps => Self::ThroughputRps,
            ExpectedMetric::WarmP50 => Self::WarmP50,
            ExpectedMetric::CpuPerRequest => Self::CpuPerRequest,
            ExpectedMetric::Memory => Self::Memory,
            ExpectedMetric::ColdStartListening => Self::ColdStartListening,
            ExpectedMetric::ColdStartAnswer => Self::ColdStartAnswer,
            ExpectedMetric::OpenLoopP99 => Self::OpenLoopP99,
        }
    }
}

impl Metric {
    /// The metric as a noun for people.
    pub fn noun(self) -> &'static str {
        match self {
            Self::ThroughputRps => "throughput",
            Self::WarmP50 => "warm p50 latency",
            Self::CpuPerRequest => "CPU per request",
            Self::Memory => "memory",
            Self::ColdStartListening => "cold start to listening",
            Self::ColdStartAnswer => "cold start to first answer",
            Self::OpenLoopP50 => "p50 from the schedule",
            Self::OpenLoopP99 => "p99 from the schedule",
        }
    }

    /// The metric as a noun, with the rate where it has one.
    pub fn at(self, percent_of_peak: Option<u32>) -> String {
        let noun = self.noun();
        percent_of_peak.map_or_else(
            || noun.to_owned(),
            |percent| format!("{noun} at {percent} % of the peak"),
        )
    }
}
