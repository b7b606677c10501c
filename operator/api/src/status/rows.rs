//! One row of the summary: a variant under a workload, and its sweeps.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::capacity::CapacityStatus;
use super::cold_start::ColdStartPoint;
use super::density::DensityStatus;
use super::judged_ratio::JudgedRatio;
use super::open_loop::OpenLoopPoint;
use super::payload::PayloadStatus;
use crate::absent::is_zero;

/// The results of one variant under one workload. Numbers of points are medians over the run's
/// blocks; ratios come with their interval.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SummaryRow {
    /// Name of the variant.
    #[schemars(length(max = 40))]
    pub variant: String,

    /// Name of the workload.
    #[schemars(length(max = 40))]
    pub workload: String,

    /// Time from the creation of a pod until it serves, one entry per number of pods at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["concurrency".into()]))]
    pub cold_start: Vec<ColdStartPoint>,

    /// Latency of the warm subject.
    pub warm_latency: Option<PointSummary>,

    /// Rate and latency of the loaded subject.
    pub throughput: Option<ThroughputSummary>,

    /// Latency at fixed rates, one entry per rate, in ascending order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8), extend("x-kubernetes-list-type" = "atomic"))]
    pub open_loop: Vec<OpenLoopPoint>,

    /// The highest rate that meets the target of the open loop.
    pub capacity: Option<CapacityStatus>,

    /// What the bytes of bodies cost.
    pub payload: Option<PayloadStatus>,

    /// Memory of one more instance, from more and more instances at once.
    pub density: Option<DensityStatus>,

    /// Ratios to the baseline, block by block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["metric".into()]))]
    pub versus_baseline: Vec<Ratio>,
}

/// Rate and latency by number of connections.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ThroughputSummary {
    /// The highest rate of all valid points, in requests per second. Absent if none is valid.
    pub peak_rps: Option<f64>,

    /// The number of connections at which the peak was reached.
    pub at_connections: Option<u32>,

    /// The fewest connections with at least 90 % of the peak: the subject is busy there, and more
    /// connections would mostly queue. Variants are compared at the baseline's knee.
    pub knee: Option<Knee>,

    /// The peak, the knee, the baseline's knee, and invalid points, each with its number of
    /// connections. The report has the whole curve.
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["connections".into()]))]
    pub points: Vec<PointSummary>,
}

/// Where a throughput curve bends.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Knee {
    /// Connections that carried the load.
    pub connections: u32,

    /// Requests per second.
    pub rps: f64,
}

/// One sweep point: medians over its valid trials, or over the invalid ones if there are no others.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PointSummary {
    /// Connections that carried the load.
    pub connections: u32,

    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that `trials` does not count: failed, skipped or invalid.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the point is invalid, the worst reason first. An invalid point is shown but excluded
    /// from peaks, knees and comparisons. Absent for a valid point.
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// Requests per second.
    pub rps: f64,

    /// Median latency, in microseconds.
    pub p50_microseconds: f64,

    /// 90th percentile of latency, in microseconds.
    pub p90_microseconds: f64,

    /// 99th percentile of latency, in microseconds.
    pub p99_microseconds: f64,

    /// CPU time of the subject's pod per request, in microseconds. Absent if the probe may not read
    /// the node's cgroups.
    pub cpu_microseconds_per_request: Option<f64>,

    /// Memory of the subject's pod at the end of the timed window, in bytes.
    pub memory_bytes: Option<i64>,

    /// Requests that a connection carried before the subject ended it. Absent where connections
    /// lasted as long as the load.
    pub requests_per_connection: Option<f64>,
}

/// A metric of a load as a multiple of the baseline's.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Ratio {
    /// `throughputRps`, `warmP50`, `cpuPerRequest`, `memory`, `succeeded` or one of
    /// `spec.additionalMeasures`.
    #[schemars(length(max = 32))]
    pub metric: String,

    /// The ratio and its verdict.
    #[serde(flatten)]
    pub judged: JudgedRatio,
}
