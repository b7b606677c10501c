//! What is compared, and in which units documents and runs have it.

use serde::{Deserialize, Serialize};
use wasmbench_model::units;
use wasmbench_results::vocabulary::measure::{Measured as _, Metric};

/// What is compared.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "camelCase")]
pub enum Figure {
    /// From the creation of a pod, or the sending of a function's code, until it is ready and has not worked yet.
    Ready,
    /// Median latency of single requests.
    WarmP50,
    /// Requests per second.
    Throughput,
    /// CPU time per request.
    CpuPerRequest,
    /// Memory under load.
    Memory,
    /// Memory of one more instance.
    MemoryPerInstance,
    /// CPU time as a share of what may be used.
    CpuUse,
    /// Context switches per second of CPU time.
    ContextSwitchesPerCpuSecond,
    /// Page faults per request.
    PageFaultsPerRequest,
    /// CPU time in the operating system per request.
    SystemCpuPerRequest,
    /// Time for making and dropping the Wasm instance of a request.
    InstanceTimePerRequest,
}

/// What loads measure in addition to rate and latency.
pub const UNDER_LOAD: [Figure; 7] = [
    Figure::CpuPerRequest,
    Figure::Memory,
    Figure::CpuUse,
    Figure::ContextSwitchesPerCpuSecond,
    Figure::PageFaultsPerRequest,
    Figure::SystemCpuPerRequest,
    Figure::InstanceTimePerRequest,
];

impl Figure {
    /// The figure as a noun for people.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Ready => "start to ready",
            Self::WarmP50 => "warm p50",
            Self::Throughput => "throughput",
            Self::CpuPerRequest => "CPU/request",
            Self::Memory => "memory",
            Self::MemoryPerInstance => "memory of one more",
            Self::CpuUse => "CPU use",
            Self::ContextSwitchesPerCpuSecond => "switches/CPU second",
            Self::PageFaultsPerRequest => "page faults/request",
            Self::SystemCpuPerRequest => "system CPU/request",
            Self::InstanceTimePerRequest => "instance/request",
        }
    }

    /// What a number of `at` counts.
    pub fn at(self, at: u32) -> String {
        let (one, many) = match self {
            // A pod, or a function of a process.
            Self::Ready | Self::MemoryPerInstance => ("instance", "instances"),
            Self::WarmP50
            | Self::Throughput
            | Self::CpuPerRequest
            | Self::Memory
            | Self::CpuUse
            | Self::ContextSwitchesPerCpuSecond
            | Self::PageFaultsPerRequest
            | Self::SystemCpuPerRequest
            | Self::InstanceTimePerRequest => ("conn", "conns"),
        };
        format!("{at} {}", if at == 1 { one } else { many })
    }

    /// The metric of a run that it is.
    pub fn metric(self) -> Metric {
        match self {
            Self::Ready => Metric::ColdStartListening,
            Self::WarmP50 => Metric::WarmP50,
            Self::Throughput => Metric::ThroughputRps,
            Self::CpuPerRequest => Metric::CpuPerRequest,
            Self::Memory => Metric::Memory,
            Self::MemoryPerInstance => Metric::MemoryPerInstance,
            Self::CpuUse => Metric::CpuUse,
            Self::ContextSwitchesPerCpuSecond => Metric::ContextSwitchesPerCpuSecond,
            Self::PageFaultsPerRequest => Metric::PageFaultsPerRequest,
            Self::SystemCpuPerRequest => Metric::SystemCpuPerRequest,
            Self::InstanceTimePerRequest => Metric::InstanceTimePerRequest,
        }
    }

    /// A measured value for people: times are in microseconds, memory in bytes.
    pub fn shown(self, value: f64) -> String {
        self.metric().measure().unit.shown(value)
    }
}

/// What a published value is.
#[derive(Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub enum Unit {
    /// A time.
    Milliseconds,
    /// A rate.
    RequestsPerSecond,
    /// Memory, in units of 1,000 bytes or of 1,024: a ratio does not care.
    Kilobytes,
    /// Memory, in units of a million bytes or of 1,048,576.
    Megabytes,
    /// Percent of a CPU for each 1,000 requests per second: tens of microseconds per request.
    CpuPercentPerThousandRequestsPerSecond,
    /// So many percent less than the base has.
    PercentLessThanBase,
    /// So many percent more than the base has.
    PercentMoreThanBase,
    /// So many percent of what the base has.
    PercentOfBase,
    /// So many times what the base has.
    TimesBase,
}

impl Unit {
    /// Whether a value is a comparison with the base already.
    pub fn is_relative(self) -> bool {
        match self {
            Self::PercentLessThanBase
            | Self::PercentMoreThanBase
            | Self::PercentOfBase
            | Self::TimesBase => true,
            Self::Milliseconds
            | Self::RequestsPerSecond
            | Self::Kilobytes
            | Self::Megabytes
            | Self::CpuPercentPerThousandRequestsPerSecond => false,
        }
    }

    /// `value` as a multiple of the base, which has the value `base` where the unit is absolute.
    pub fn ratio(self, value: f64, base: Option<f64>) -> Option<f64> {
        let ratio = match self {
            Self::PercentLessThanBase => 1.0 - value / 100.0,
            Self::PercentMoreThanBase => 1.0 + value / 100.0,
            Self::PercentOfBase => value / 100.0,
            Self::TimesBase => value,
            Self::Milliseconds
            | Self::RequestsPerSecond
            | Self::Kilobytes
            | Self::Megabytes
            | Self::CpuPercentPerThousandRequestsPerSecond => value / base?,
        };
        (ratio.is_finite() && ratio > 0.0).then_some(ratio)
    }

    /// A value of the base for people.
    pub fn shown(self, value: f64) -> String {
        match self {
            Self::Milliseconds => units::micros(value * 1e3),
            Self::RequestsPerSecond => format!("{}/s", units::rate(value)),
            Self::Kilobytes => format!("{value} kB"),
            Self::Megabytes => format!("{value} MB"),
            // 1 % of a CPU for 1,000 requests/s is a hundredth of a second for a thousand requests.
            Self::CpuPercentPerThousandRequestsPerSecond => units::micros(value * 10.0),
            Self::PercentLessThanBase
            | Self::PercentMoreThanBase
            | Self::PercentOfBase
            | Self::TimesBase => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_computed_from_what_the_document_prints() {
        for (unit, value, base, ratio) in [
            (Unit::RequestsPerSecond, 25.0, Some(100.0), Some(0.25)),
            (Unit::Milliseconds, 3.0, Some(2.0), Some(1.5)),
            (Unit::Milliseconds, 3.0, None, None),
            (Unit::Megabytes, 3.0, Some(0.0), None),
            (Unit::PercentOfBase, 57.0, None, Some(0.57)),
            (Unit::TimesBase, 2.2, None, Some(2.2)),
            (Unit::PercentLessThanBase, 75.0, None, Some(0.25)),
            (Unit::PercentLessThanBase, 100.0, None, None),
            (Unit::PercentMoreThanBase, 25.0, None, Some(1.25)),
            (Unit::PercentMoreThanBase, 0.0, None, Some(1.0)),
        ] {
            assert_eq!(unit.ratio(value, base), ratio, "{unit:?} {value} {base:?}");
        }
    }

    #[test]
    fn a_percent_of_a_cpu_for_a_thousand_requests_is_ten_microseconds_each() {
        let shown = Unit::CpuPercentPerThousandRequestsPerSecond.shown(3.97);
        assert_eq!(shown, "39.7 us");
    }
}
