//! What the operator answers. Status is output: nothing in it steers the run.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How far the run is and what it found.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = crate::schema::known_formats)]
pub struct BenchmarkRunStatus {
    /// Generation of the spec that this status describes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// `Accepted`, `Finished`, `Succeeded`, `Trustworthy`, with expectations
    /// `Passed`, and `Reconciling` and `Stalled` for
    /// tools that follow kstatus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = crate::schema::bounded_conditions)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,

    /// Seed of the order in which cells are measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,

    /// The variant that the others are compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 40))]
    pub baseline: Option<String>,

    /// When the first trial was prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_time: Option<Time>,

    /// When the report was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_time: Option<Time>,

    /// The node that is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<MeasuredNode>,

    /// How far the run is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,

    /// What became of `spec.precision`, once the run has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<ReachedPrecision>,

    /// The result in one line, with a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 512))]
    pub verdict: Option<String>,

    /// Variants that could not be measured, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["variant".into()]))]
    pub skipped: Vec<SkippedVariant>,

    /// What variants cannot do by their definition. It is never tried: no failure and no number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["variant".into(), "what".into()]))]
    pub not_applicable: Vec<NotApplicable>,

    /// One row per variant and workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["variant".into(), "workload".into()]))]
    pub summary: Vec<SummaryRow>,

    /// Cold starts of a pod that does nothing but listen, one entry per number of pods at once: what
    /// cluster and harness take before any service begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["concurrency".into()]))]
    pub harness_floor: Vec<HarnessFloor>,

    /// What `summary` leaves out of a very large run, to keep the status small. The report has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_omitted: Option<Omitted>,
    /// How the run compares with `spec.baselineRunName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versus_run: Option<VersusRun>,

    /// Where the full results are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Results>,
}

/// How a run compares with an earlier one.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VersusRun {
    /// Name of the earlier run.
    #[schemars(length(max = 253))]
    pub name: String,

    /// Whether the runs were compared.
    pub compared: bool,

    /// Numbers that are slower or larger than in the earlier run.
    pub worse: u32,

    /// Numbers that are faster or smaller.
    pub better: u32,

    /// The result in one line, or why there is none.
    #[schemars(length(max = 512))]
    pub message: String,
}

/// The node that a run measures.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MeasuredNode {
    /// Name of the node.
    #[schemars(length(max = 253))]
    pub name: String,

    /// First 12 hex digits of a SHA-256 over what identifies the node as a measuring instrument
    /// (kernel, CPU, runtime, kubelet, ...). Runs with different fingerprints do not compare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub fingerprint: Option<String>,
}

/// How far a run is.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Trials with a record, failed and skipped ones included.
    pub completed_trials: u32,

    /// All trials of the run; with `spec.precision` those of the blocks that are decided so far.
    pub total_trials: u32,

    /// Trials that the run may have with `spec.precision`, while it is open how many it needs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most_trials: Option<u32>,

    /// Both for people, with the time that is probably left.
    #[schemars(length(max = 64))]
    pub text: String,

    /// What happens now, or what to do next.
    #[schemars(length(max = 1024))]
    pub message: String,

    /// When the run will probably finish, from its spec and the trials that are left. Repeats of noisy
    /// windows, longer warm-ups and a queue are not in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated_completion_time: Option<Time>,
}

/// How precise a run with `spec.precision` became.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ReachedPrecision {
    /// Blocks that were measured.
    pub blocks: u32,

    /// What ended the run: `PreciseEnough`, `BudgetSpent` (`maxBlocks`), or `NothingToCompare` (no
    /// ratio to the baseline can be measured any more).
    #[schemars(length(max = 32))]
    pub outcome: String,

    /// How far the widest interval reaches from its ratio, as a share: 0.05 for 5 %. Absent without
    /// an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub widest_relative_interval: Option<f64>,

    /// The same in words.
    #[schemars(length(max = 512))]
    pub message: String,
}

/// A variant that could not be measured.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SkippedVariant {
    /// Name of the variant.
    #[schemars(length(max = 40))]
    pub variant: String,

    /// Reason as one word, e.g. `RuntimeClassNotFound`.
    #[schemars(length(max = 64))]
    pub reason: String,

    /// What happened and what to do about it.
    #[schemars(length(max = 512))]
    pub message: String,
}

/// Workloads or sweep points that a variant cannot do by its definition.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NotApplicable {
    /// Name of the variant.
    #[schemars(length(max = 40))]
    pub variant: String,

    /// What is left out, e.g. `workload state` or `cold-c4, density`.
    #[schemars(length(max = 256))]
    pub what: String,

    /// Why the preset cannot do it by its definition.
    #[schemars(length(max = 256))]
    pub reason: String,
}

/// Numbers that are in the report only.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Omitted {
    /// Sweep points.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub points: u32,

    /// Ratios to the baseline.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ratios: u32,

    /// Whole rows.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rows: u32,
}

/// What was found for one variant under one workload. Numbers of points are medians over the run's
/// blocks; ratios come with their interval.
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_latency: Option<PointSummary>,

    /// The loaded subject.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<ThroughputSummary>,

    /// Latency at fixed rates, one entry per percentage of the peak.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["percentOfPeak".into()]))]
    pub open_loop: Vec<OpenLoopPoint>,

    /// More and more instances at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<DensityStatus>,

    /// Compared with the baseline, block by block.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["metric".into()]))]
    pub versus_baseline: Vec<Ratio>,
}

/// Latency at a fixed rate, counted from when each request was due. Medians over the run's blocks.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OpenLoopPoint {
    /// The rate in percent of the subject's own peak.
    pub percent_of_peak: u32,

    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that failed, were skipped or were invalid, and are not part of the numbers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the point is invalid, as words separated by commas. Absent for a valid point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// Requests per second that were asked for.
    pub requested_rps: f64,

    /// The smallest part of that rate, in percent, that a valid trial kept; below 98 the point is
    /// void.
    pub achieved_percent: f64,

    /// Median latency from the schedule, in microseconds.
    pub p50_microseconds: f64,

    /// 99th percentile of latency from the schedule, in microseconds.
    pub p99_microseconds: f64,

    /// 99th percentile of the service time of the same requests, in microseconds: what a closed loop
    /// would have told.
    pub service_p99_microseconds: f64,

    /// The p99 from the schedule as a multiple of the baseline's at the same percentage, taken within
    /// blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,

    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,

    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,

    /// `Faster`, `Slower`, `Equivalent`, `Inconclusive` or `NotResolvable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub verdict: Option<String>,
}

/// What one more instance costs.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityStatus {
    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that failed or were skipped, and are not part of the numbers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// The most instances that ran at once.
    pub instances: u32,

    /// Trials that ended before the last step, because the node was full or too slow.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stopped_trials: u32,

    /// Memory of one more instance, its shim included, in bytes: the median over blocks of the slope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_instance: Option<f64>,

    /// The same as a multiple of the baseline's, taken within blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,

    /// Lower end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,

    /// Upper end of its 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,

    /// `Smaller`, `Larger`, `Equivalent`, `Inconclusive` or `NotResolvable`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 32))]
    pub verdict: Option<String>,
}

/// Cold starts of one number of pods at once.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartPoint {
    /// Pods that were created at once.
    pub concurrency: u32,

    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that failed or were skipped, and are not part of the numbers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the point is invalid, the worst reason first: it is shown, and takes no part in
    /// comparisons. Absent for a valid point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// Samples of these trials, without the discarded ones and those of the wrong class.
    pub samples: u32,

    /// From the request that creates the pod to the log line by which the service says that it
    /// listens, on the node's clock. Absent when no such line was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<ColdStartTime>,

    /// From the request that creates the pod to the first correct answer over the pod network,
    /// which cannot come before the API tells the pod's address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ColdStartTime>,

    /// From the first pod's creation to the last pod's first correct answer, in microseconds; with
    /// more than one pod at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub makespan_microseconds: Option<f64>,
}

/// What a cold start takes when the service does nothing.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct HarnessFloor {
    /// Pods that were created at once.
    pub concurrency: u32,

    /// From the request that creates the pod to the log line that says that it listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening: Option<FloorTime>,

    /// From the request that creates the pod to its first answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<FloorTime>,
}

/// A time of the harness' floor, in microseconds.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct FloorTime {
    /// Median over the blocks of the block's median pod.
    pub p50_microseconds: f64,

    /// Lower end of its 95 % interval.
    pub low_microseconds: f64,

    /// Upper end of its 95 % interval.
    pub high_microseconds: f64,
}

/// How long a start takes.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartTime {
    /// Median over the blocks of the block's median pod, in microseconds.
    pub p50_microseconds: f64,

    /// What 90 % of all pods do not exceed, in microseconds.
    pub p90_microseconds: f64,

    /// As a multiple of the baseline's, block by block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versus_baseline: Option<ColdStartRatio>,
}

/// A time as a multiple of the baseline's, compared within each block.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartRatio {
    /// This variant's time divided by the baseline's in the same block, averaged over blocks on the
    /// log scale without the outermost eighth at each end.
    pub ratio: f64,

    /// Lower end of the 95 % interval of the ratio; the ratio itself with one block.
    pub low: f64,

    /// Upper end of the 95 % interval of the ratio; the ratio itself with one block.
    pub high: f64,

    /// How far the baseline's twin may differ from the baseline, as a factor above 1. Absent without
    /// a twin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,

    /// `Faster`, `Slower`, `Equivalent`, `Inconclusive` or `NotResolvable`, with the meanings of
    /// `summary[].versusBaseline[].verdict`.
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub verdict: String,

    /// Blocks in which both were measured.
    pub blocks: u32,
}

/// Rate and latency by number of connections.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ThroughputSummary {
    /// The highest rate of all valid points, in requests per second. Absent when none is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_rps: Option<f64>,

    /// The number of connections at which it was reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_connections: Option<u32>,

    /// The fewest connections with at least 90 % of that rate: the subject is busy there, and more
    /// connections would mostly queue. Variants are compared at the baseline's knee.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<Knee>,

    /// One entry per number of connections.
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

/// One sweep point: medians over its valid trials, or over the invalid ones where there is no other.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PointSummary {
    /// Connections that carried the load.
    pub connections: u32,

    /// Valid trials behind the numbers.
    pub trials: u32,

    /// Trials that failed or were skipped, and are not part of the numbers.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed_trials: u32,

    /// Why the point is invalid, the worst reason first: it is shown, and takes no part in peaks,
    /// knees and comparisons. Absent for a valid point.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 128))]
    pub invalid: Option<String>,

    /// Requests per second.
    pub rps: f64,

    /// Latency below which half of the requests stayed, in microseconds.
    pub p50_microseconds: f64,

    /// Latency below which 90 % of the requests stayed, in microseconds.
    pub p90_microseconds: f64,

    /// Latency below which 99 % of the requests stayed, in microseconds.
    pub p99_microseconds: f64,

    /// CPU time of the subject's pod per request, in microseconds. Absent when the probe may not
    /// read the node's cgroups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_microseconds_per_request: Option<f64>,

    /// Memory of the subject's pod at the end of the timed window (working set), in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<i64>,
}

/// A metric as a multiple of the baseline's, compared within each block.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Ratio {
    /// `throughputRps`, `warmP50`, `cpuPerRequest` or `memory`.
    #[schemars(length(max = 32))]
    pub metric: String,

    /// This variant's value divided by the baseline's in the same block, averaged over blocks on the
    /// log scale without the outermost eighth at each end.
    pub ratio: f64,

    /// Lower end of the 95 % interval of the ratio. Absent with one block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,

    /// Upper end of the 95 % interval of the ratio. Absent with one block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,

    /// How far the baseline's twin may differ from the baseline, as a factor above 1. Absent without
    /// a twin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<f64>,

    /// `Faster` or `Slower` (rate, time, CPU), `Smaller` or `Larger` (memory), `Equivalent`
    /// (whole interval within `minimumEffect`), `Inconclusive` (the data do not say) or
    /// `NotResolvable` (the node shows as large a difference between the baseline and its twin).
    #[serde(default)]
    #[schemars(length(max = 32))]
    pub verdict: String,

    /// Blocks in which both were measured.
    pub blocks: u32,
}

/// Names of the `ConfigMaps` that hold the full results.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    /// `summary.json`, `summary.csv`, `report.md`, `report.html`, `environment.json`.
    #[schemars(length(max = 253))]
    pub report: String,

    /// One record per trial, gzipped JSON.
    #[schemars(length(max = 1024), inner(length(max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub records: Vec<String>,

    /// Further ones of a very large run, whose names are left out to keep the status small. All of them
    /// carry the labels `wasmbench.dev/run-uid` and `app.kubernetes.io/component=records`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub records_omitted: u32,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(value: &u32) -> bool {
    *value == 0
}
