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
    /// Memory of one more instance; needs the density sweep.
    MemoryPerInstance,
}
