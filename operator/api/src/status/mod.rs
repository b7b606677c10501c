//! What the operator reports. Status is output: nothing in it steers the run.

mod capacity;
mod cold_start;
mod density;
mod judged_ratio;
mod open_loop;
mod payload;
mod rows;

use crate::absent::is_zero;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use capacity::{CapacityStatus, RungStatus};
pub use cold_start::{
    ColdStartPoint, ColdStartRatio, ColdStartTime, FloorTime, HarnessFloor, LateStarts,
};
pub use density::DensityStatus;
pub use judged_ratio::JudgedRatio;
pub use open_loop::OpenLoopPoint;
pub use payload::{PayloadSizeStatus, PayloadStatus};
pub use rows::{Knee, PointSummary, Ratio, SummaryRow, ThroughputSummary};

/// How far the run has progressed and what it found.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = crate::schema::known_formats)]
pub struct BenchmarkRunStatus {
    /// Generation of the spec that this status describes.
    pub observed_generation: Option<i64>,

    /// `Accepted`, `Finished`, `Succeeded`, `Trustworthy`, `Passed` (with expectations), and
    /// `Reconciling` and `Stalled` for tools that follow kstatus.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), transform = crate::schema::bounded_conditions)]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["type".into()]))]
    pub conditions: Vec<Condition>,

    /// Seed of the order in which cells are measured.
    pub seed: Option<i64>,

    /// The variant that the others are compared with.
    #[schemars(length(max = 40))]
    pub baseline: Option<String>,

    /// When the first trial was prepared.
    pub start_time: Option<Time>,

    /// When the run ended: its report was written, it was refused, or no node matched.
    pub completion_time: Option<Time>,

    /// The node that is measured.
    pub node: Option<MeasuredNode>,

    /// The bodies from `ConfigMaps` that the workloads send.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["workload".into()]))]
    pub bodies: Vec<SentBody>,

    /// How far the run has progressed.
    pub progress: Option<Progress>,

    /// The outcome of `spec.precision`, once the run has ended.
    pub precision: Option<ReachedPrecision>,

    /// Which differences the run can find: at first by an assumed scatter, from its third block on by
    /// its own.
    pub power: Option<Power>,

    /// The result in one line, with a number.
    #[schemars(length(max = 512))]
    pub verdict: Option<String>,

    /// What to do next, in one sentence without a full stop.
    #[schemars(length(max = 512))]
    pub next_step: Option<String>,

    /// Variants that could not be measured, in whole or under a workload, and why; one entry for each
    /// reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["variant".into(), "reason".into()]))]
    pub skipped: Vec<SkippedVariant>,

    /// What variants cannot do by definition. Never tried, so neither a failure nor a number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 64))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["variant".into(), "what".into()]))]
    pub not_applicable: Vec<NotApplicable>,

    /// One row per variant and workload.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 256))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["variant".into(), "workload".into()]))]
    pub summary: Vec<SummaryRow>,

    /// Number of further rows of a very large run, left out of `summary` to keep the status small.
    /// The report has them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub summary_rows_omitted: u32,

    /// Cold starts of a pod that only listens, one entry per number of pods at once: the time that
    /// cluster and harness take before any service begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 8))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["concurrency".into()]))]
    pub harness_floor: Vec<HarnessFloor>,

    /// How the run compares with `spec.baselineRunName`.
    pub versus_run: Option<VersusRun>,

    /// Where the full results are.
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
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct MeasuredNode {
    /// Name of the node.
    #[schemars(length(max = 253))]
    pub name: String,

    /// First 12 hex digits of a SHA-256 over what identifies the node as a measuring instrument
    /// (kernel, CPU, runtime, kubelet, ...). Runs with different fingerprints are not compared.
    #[schemars(length(max = 64))]
    pub fingerprint: Option<String>,
}

/// How far a run has progressed.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Progress {
    /// Trials with a record, failed and skipped ones included.
    pub completed_trials: u32,

    /// All trials of the run; with `spec.precision`, those of the blocks planned so far.
    pub total_trials: u32,

    /// The maximum number of trials with `spec.precision`, until it is decided how many are needed.
    pub most_trials: Option<u32>,

    /// Both counts in readable form, with the estimated time left.
    #[schemars(length(max = 64))]
    pub text: String,

    /// The trial that is prepared, measured or recorded, as `variant/workload/point/bN`.
    #[schemars(length(max = 256))]
    pub trial: Option<String>,

    /// What happens to it.
    pub phase: Option<TrialPhase>,

    /// What is happening now, or what to do next.
    #[schemars(length(max = 1024))]
    pub message: String,

    /// Why the run takes longer than planned; absent while it does not.
    #[schemars(length(max = 1024))]
    pub delay: Option<String>,

    /// The place of a run that waits for a node, among those that could use the same nodes: 1 is next.
    /// Far from the front it is about right.
    pub place_in_queue: Option<u32>,

    /// When a run that waits for a node will probably begin, by how long the runs before it take.
    pub estimated_start_time: Option<Time>,

    /// When the run will probably finish, estimated from its spec and the pace of the trials so
    /// far; for a run that waits for a node, by how long the runs before it take, too.
    pub estimated_completion_time: Option<Time>,
}

/// What happens to a trial.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrialPhase {
    /// Its pods start or go: whoever reads from the cluster now disturbs nothing.
    Preparing,
    /// Its probe is at work.
    Measuring,
    /// It has ended, and its record is being stored.
    Recording,
}

/// The precision that a run with `spec.precision` reached.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ReachedPrecision {
    /// Blocks that were measured.
    pub blocks: u32,

    /// What ended the run: `PreciseEnough`, `BudgetSpent` (`maxBlocks`), or `NothingToCompare` (no
    /// ratio to the baseline can be measured any more, or only bounds of them).
    #[schemars(length(max = 32))]
    pub outcome: String,

    /// How far the widest interval extends from its ratio, as a share: 0.05 for 5 %. Absent without
    /// an interval.
    pub widest_relative_interval: Option<f64>,

    /// The same in words.
    #[schemars(length(max = 512))]
    pub message: String,
}

/// Which differences a run can find.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Power {
    /// The smallest difference that 80 of 100 such runs find in a primary comparison, as a share:
    /// 0.05 for 5 %. With several comparisons, that of the least precise one. Absent with one
    /// block.
    pub smallest_difference: Option<f64>,

    /// The assumed scatter of equal trials, as a share. Absent once the run's own scatter is used.
    pub assumed_scatter: Option<f64>,

    /// How far equal trials of the run scatter, as a share: those of the primary measure that
    /// scatters most. Absent before the third block, and where all primary measures are judged by
    /// their difference.
    pub scatter: Option<f64>,

    /// Number of complete blocks that were looked at for `scatter` and for doubts. Absent before the first.
    pub blocks: Option<u32>,

    /// The same in words: until the run ends, also if too few blocks are planned to find equals
    /// equivalent; then for each workload and measure.
    #[schemars(length(max = 512))]
    pub message: String,
}

/// A body from a `ConfigMap`, as it was first read.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SentBody {
    /// Name of the workload; for a request of a mix `workload.request`.
    #[schemars(length(max = 81))]
    pub workload: String,

    /// SHA-256 of the body, in hexadecimal digits.
    #[schemars(length(max = 64))]
    pub sha256: String,
}

/// A variant that could not be measured.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SkippedVariant {
    /// Name of the variant.
    #[schemars(length(max = 40))]
    pub variant: String,

    /// Reason in one word, e.g. `RuntimeClassNotFound`.
    #[schemars(length(max = 64))]
    pub reason: String,

    /// What happened and what to do about it.
    #[schemars(length(max = 512))]
    pub message: String,

    /// Names of the workloads, unless it is all of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), inner(length(max = 40)), extend("x-kubernetes-list-type" = "set"))]
    pub workloads: Vec<String>,
}

/// Workloads or sweep points that a variant cannot do by definition.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NotApplicable {
    /// Name of the variant.
    #[schemars(length(max = 40))]
    pub variant: String,

    /// What is left out, e.g. `workload state` or `cold-c4, density`.
    #[schemars(length(max = 256))]
    pub what: String,

    /// Why the preset cannot do it by definition.
    #[schemars(length(max = 256))]
    pub reason: String,
}

/// Names of the `ConfigMaps` that hold the full results.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    /// The `ConfigMap` with `summary.json`, `summary.csv`, `comparisons.csv`, `report.md`,
    /// `report.html` and `environment.json`.
    #[schemars(length(max = 253))]
    pub report: String,

    /// The `ConfigMaps` with one record per trial, as gzipped JSON.
    #[schemars(length(max = 1024), inner(length(max = 253)), extend("x-kubernetes-list-type" = "set"))]
    pub records: Vec<String>,

    /// Number of further record `ConfigMaps` of a very large run, whose names are left out to keep
    /// the status small. All of them carry the labels `wasmbench.dev/run-uid` and
    /// `app.kubernetes.io/component=records`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub records_omitted: u32,
}
