//! What is compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is compared, variant by variant, with the baseline.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    strum::IntoStaticStr,
    strum::EnumIter,
    strum::EnumCount,
    strum::EnumString,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Metric {
    /// Successful requests per second at the baseline's knee; needs the throughput sweep.
    ThroughputRps,
    /// Median latency of the warm subject; needs the warm-latency sweep.
    WarmP50,
    /// CPU time of the subject's pod per request; needs the throughput or the warm-latency sweep.
    CpuPerRequest,
    /// Memory of the subject's pod under load; needs the throughput or the warm-latency sweep.
    Memory,
    /// Share of requests answered as expected, at the baseline's knee; needs the throughput or the
    /// warm-latency sweep, and a workload with `maxErrorShare`.
    Succeeded,
    /// Time from the creation of a pod until its service reports that it is listening; needs the
    /// cold-start sweep. The fewest pods at once count.
    ColdStartListening,
    /// Time from the creation of a pod until its first correct answer; needs the cold-start sweep.
    /// The fewest pods at once count.
    ColdStartAnswer,
    /// Median latency, counted from when each request was due; needs the open-loop sweep. The
    /// highest rate counts.
    OpenLoopP50,
    /// 99th percentile of latency, counted from when each request was due; needs the open-loop
    /// sweep. The highest rate counts.
    OpenLoopP99,
    /// Highest rate that meets the latency target, with failures below `maxErrorShare`; needs the
    /// open-loop sweep with a `target`.
    Capacity,
    /// CPU time of the subject's pod per megabyte of a body that it gets and sends back; needs the
    /// payload sweep.
    PayloadCpuPerMegabyte,
    /// CPU time of the subject's pod per request, without that for the bytes of its body; needs the
    /// payload sweep.
    PayloadFixedCpu,
    /// Memory of one more instance; needs the density sweep.
    MemoryPerInstance,
    /// Context switches of the subject's threads per second of its CPU time; compared only if
    /// named, and needs the throughput or the warm-latency sweep.
    ContextSwitchesPerCpuSecond,
    /// Page faults of the subject's pod per request; compared only if named, and needs the
    /// throughput or the warm-latency sweep.
    PageFaultsPerRequest,
    /// CPU time of the subject's pod in the kernel, per request; compared only if named, and needs
    /// the throughput or the warm-latency sweep.
    SystemCpuPerRequest,
    /// Time in which Wasm instances are made and dropped, per request; compared only if named, and
    /// needs the throughput or the warm-latency sweep. Only servers of kernels report it.
    InstanceTimePerRequest,
    /// CPU time of the subject's pod as a share of what it may use; compared only if named, and
    /// needs the throughput sweep.
    CpuUse,
}

/// How a bound on a measure is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundUnit {
    /// As a ratio, without a unit.
    Ratio,
    /// As a difference in milliseconds.
    Milliseconds,
    /// As a difference in percentage points.
    Points,
}

impl Metric {
    /// Returns how a bound on the measure is written: as what is judged of it, a ratio or a
    /// difference.
    pub const fn bound(self) -> BoundUnit {
        match self {
            Self::ColdStartListening | Self::ColdStartAnswer => BoundUnit::Milliseconds,
            Self::Succeeded => BoundUnit::Points,
            Self::ThroughputRps
            | Self::WarmP50
            | Self::CpuPerRequest
            | Self::Memory
            | Self::OpenLoopP50
            | Self::OpenLoopP99
            | Self::Capacity
            | Self::PayloadCpuPerMegabyte
            | Self::PayloadFixedCpu
            | Self::MemoryPerInstance
            | Self::ContextSwitchesPerCpuSecond
            | Self::PageFaultsPerRequest
            | Self::SystemCpuPerRequest
            | Self::InstanceTimePerRequest
            | Self::CpuUse => BoundUnit::Ratio,
        }
    }

    /// Returns whether the measure is compared only in runs that name it.
    pub const fn is_additional(self) -> bool {
        match self {
            Self::ContextSwitchesPerCpuSecond
            | Self::PageFaultsPerRequest
            | Self::SystemCpuPerRequest
            | Self::InstanceTimePerRequest
            | Self::CpuUse => true,
            Self::ThroughputRps
            | Self::WarmP50
            | Self::CpuPerRequest
            | Self::Memory
            | Self::Succeeded
            | Self::ColdStartListening
            | Self::ColdStartAnswer
            | Self::OpenLoopP50
            | Self::OpenLoopP99
            | Self::Capacity
            | Self::PayloadCpuPerMegabyte
            | Self::PayloadFixedCpu
            | Self::MemoryPerInstance => false,
        }
    }
}
