//! The `BenchmarkRun`: one comparison of variants of a service on one node.

#![expect(
    clippy::duplicated_attributes,
    reason = "the columns of #[kube(printcolumn)] share keys"
)]

mod answer;
mod companions;
mod derived;
mod engine;
mod expectation;
mod metric;
mod minimum_difference;
mod placement;
mod precision;
mod request;
mod resources;
mod run_scatter;
mod scale;
mod service;
mod sweeps;
mod variant;
mod workload;

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

pub use crate::share::share_of;
pub use crate::validation::{
    BODY_MESSAGE, BODY_METHOD_MESSAGE, ENGINE_MESSAGE, HEAD_MESSAGE, MAX_TEXT,
    MIX_CONNECTIONS_MESSAGE, MIX_MESSAGE, MIX_SAME_MESSAGE, MIX_SWEEPS_MESSAGE, MIXES_MESSAGE,
    ONE_SERVICE_MESSAGE, POINTER_MESSAGE, PROBE_USER, SCALE_RESOURCES_MESSAGE,
    SCALED_STARTS_MESSAGE, SCHEME_MESSAGE, TEXT_MESSAGE, UNSAFE_MESSAGE, UNSAFE_WORD,
};
pub use answer::{Expectation, JsonValue};
pub use companions::Companions;
pub use engine::{Allocator, BoundsChecks, Compile, Engine};
pub use expectation::{Bound, RatioExpectation};
pub use metric::{BoundUnit, Metric};
pub use minimum_difference::MinimumDifference;
pub use placement::{Network, Placement, TaintEffect, Toleration, TolerationOperator};
pub use precision::{FEWEST_PRECISE_BLOCKS, MOST_BLOCKS, Precision};
pub use request::{BodyFrom, Header, Method};
pub use resources::{CpuAndMemory, SubjectResources};
pub use run_scatter::RunScatter;
pub use scale::ScaleTarget;
pub use service::{Ready, Scheme};
pub use sweeps::{ConnectionReuse, Sweeps, Throughput, WarmLatency};
pub use variant::{EnvVar, OwnContainer, Preset, Variant};
pub use workload::{Action, ActionCode, ActionParameter, MAX_BODY_BYTES, MixedRequest, Workload};

use crate::absent::number;
use crate::conditions;
use crate::status::BenchmarkRunStatus;
use crate::validation;

/// Name of the variant that the operator adds to a run with a noise floor: the baseline a second
/// time.
pub const TWIN: &str = "baseline-twin";

/// What to compare, under which load, and how often. Immutable once created, except `suspend` and
/// `ttlSecondsAfterFinished`.
#[serde_with::skip_serializing_none]
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[kube(
    group = "wasmbench.dev",
    version = "v1alpha1",
    kind = "BenchmarkRun",
    namespaced,
    status = "BenchmarkRunStatus",
    derive = "PartialEq",
    shortname = "brun",
    category = "benchmarks",
    doc = "A BenchmarkRun compares ways to execute one service (variants) on one node under the \
           same load, and answers with numbers, ratios to a baseline and how far to trust them.",
    printcolumn(
        name = "State",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Succeeded\")].reason",
        description = "What the run is doing or how it ended"
    ),
    printcolumn(
        name = "Progress",
        type_ = "string",
        json_path = ".status.progress.text",
        description = "Recorded trials of all trials, and the time left"
    ),
    printcolumn(
        name = "Trustworthy",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Trustworthy\")].status",
        description = "Whether the numbers can be believed; the condition says why not"
    ),
    printcolumn(
        name = "Verdict",
        type_ = "string",
        json_path = ".status.verdict",
        description = "The result in one line"
    ),
    printcolumn(
        name = "Passed",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Passed\")].status",
        description = "Whether all of spec.expectations are met; the condition lists them"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    ),
    printcolumn(
        name = "Node",
        type_ = "string",
        json_path = ".status.node.name",
        description = "The node that is measured",
        priority = "1"
    ),
    printcolumn(
        name = "Baseline",
        type_ = "string",
        json_path = ".status.baseline",
        description = "The variant that the others are compared with",
        priority = "1"
    ),
    printcolumn(
        name = "Blocks",
        type_ = "integer",
        json_path = ".spec.blocks",
        description = "Repetitions of every cell",
        priority = "1"
    ),
    printcolumn(
        name = "Message",
        type_ = "string",
        json_path = ".status.progress.message",
        description = "What happens now, or what to do next",
        priority = "1"
    )
)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = crate::schema::known_formats)]
#[x_kube(
    validation = Rule::new(validation::BASELINE_RULE).message(validation::BASELINE_MESSAGE).field_path(".baseline"),
    validation = Rule::new(validation::cells_rule()).message(validation::CELLS_MESSAGE),
    validation = Rule::new(validation::trials_rule()).message(validation::TRIALS_MESSAGE).field_path(".blocks"),
    validation = Rule::new(validation::TEXT_RULE).message(validation::TEXT_MESSAGE),
    validation = Rule::new(validation::MIXES_RULE).message(validation::MIXES_MESSAGE).field_path(".workloads"),
    validation = Rule::new(validation::MIX_SWEEPS_RULE).message(validation::MIX_SWEEPS_MESSAGE).field_path(".sweeps"),
    validation = Rule::new(validation::MIX_CONNECTIONS_RULE).message(validation::MIX_CONNECTIONS_MESSAGE).field_path(".sweeps"),
    validation = Rule::new(validation::PRECISION_BLOCKS_RULE).message(validation::PRECISION_BLOCKS_MESSAGE).field_path(".precision"),
    validation = Rule::new(validation::PRECISION_RATIOS_RULE).message(validation::PRECISION_RATIOS_MESSAGE).field_path(".precision"),
    validation = Rule::new(validation::primary_rule()).message(validation::PRIMARY_MESSAGE).field_path(".primaryMeasures"),
    validation = Rule::new(validation::additional_rule()).message(validation::ADDITIONAL_MESSAGE).field_path(".additionalMeasures"),
    validation = Rule::new(validation::SUCCEEDED_RULE).message(validation::SUCCEEDED_MESSAGE),
    validation = Rule::new(validation::EXPECTED_NAMES_RULE).message(validation::EXPECTED_NAMES_MESSAGE).field_path(".expectations"),
    validation = Rule::new(validation::EXPECTED_BASELINE_RULE).message(validation::EXPECTED_BASELINE_MESSAGE).field_path(".expectations"),
    validation = Rule::new(validation::expected_metric_rule()).message(validation::EXPECTED_METRIC_MESSAGE).field_path(".expectations"),
    validation = Rule::new(validation::EXPECTED_BLOCKS_RULE).message(validation::EXPECTED_BLOCKS_MESSAGE).field_path(".expectations"),
    validation = Rule::new(validation::HOST_PORTS_RULE).message(validation::HOST_PORTS_MESSAGE).field_path(".sweeps"),
    validation = Rule::new(validation::HOST_DENSITY_RULE).message(validation::HOST_DENSITY_MESSAGE).field_path(".sweeps"),
    validation = Rule::new(validation::PAYLOAD_RULE).message(validation::PAYLOAD_MESSAGE).field_path(".sweeps"),
    validation = Rule::new(validation::COLD_IMAGES_RULE).message(validation::COLD_IMAGES_MESSAGE).field_path(".variants"),
    validation = Rule::new(validation::SCALED_STARTS_RULE).message(validation::SCALED_STARTS_MESSAGE).field_path(".sweeps"),
    validation = Rule::new(validation::IMMUTABLE_RULE).message(validation::IMMUTABLE_MESSAGE)
)]
pub struct BenchmarkRunSpec {
    /// Repetitions of every cell (variant, workload and sweep point), each in a freshly shuffled
    /// order and with a fresh pod. The run estimates its own noise from the spread over blocks;
    /// fewer than 5 say little.
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1, max = MOST_BLOCKS))]
    pub blocks: u32,

    /// Plans after `blocks` blocks (at least 8) how many it takes to know the primary measures
    /// precisely enough, and measures them. Default: the run ends after `blocks` blocks.
    pub precision: Option<Precision>,

    /// Seed of the shuffled order; status reports it. Default: derived from the run's uid.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_i64))]
    pub seed: Option<i64>,

    /// Name of the variant that the others are compared with. Default: the first variant.
    #[schemars(length(min = 1, max = 40))]
    pub baseline: Option<String>,

    /// Name of a finished run in the same namespace with which this one is compared, number by
    /// number. `status.versusRun` has the result, and the report a table. A run that is missing,
    /// unfinished or not comparable (another node, other workloads) causes no failure:
    /// `status.versusRun` says why there is no result.
    #[schemars(length(min = 1, max = 253))]
    #[x_kube(validation = Rule::new(validation::BASELINE_RUN_RULE).message(validation::BASELINE_RUN_MESSAGE))]
    pub baseline_run_name: Option<String>,

    /// How far a variant shifts on its own from run to run, in percent from `0%` to `50%`: the
    /// standard deviation of its ratio to the baseline, and for cold starts a share of its own
    /// time. Two runs are judged with it: those of `baselineRunName` always, and by
    /// `kubectl wasmbench compare` unless the history of a schedule shows how far its runs scatter.
    /// State what you have measured on your nodes: with too little, equal runs are called worse;
    /// with more, only larger differences are found. Default: `3.5%`.
    #[schemars(length(min = 2, max = 5))]
    #[x_kube(validation = Rule::new(validation::RUN_SCATTER_RULE).message(validation::RUN_SCATTER_MESSAGE))]
    pub run_scatter: Option<String>,

    /// The measures that the run decides, at most 10. Their verdicts are corrected only for one
    /// another, the one-line verdict is about them, and `precision` waits for them. All other
    /// measures are secondary: also measured, and corrected among themselves. Name few, because
    /// each costs the others power. Of a sweep's valid points, the fewest pods at once (cold
    /// starts) and the highest rate (open loop) count. Default: one per sweep, which is
    /// `cpuPerRequest` for throughput (`throughputRps` if no CPU time can be read), `warmP50`,
    /// `coldStartListening` (`coldStartAnswer` if no log line shows it), `openLoopP99` and
    /// `memoryPerInstance`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub primary_measures: Vec<Metric>,

    /// Measures that are compared in addition, at most 5: `contextSwitchesPerCpuSecond`,
    /// `pageFaultsPerRequest`, `systemCpuPerRequest`, `instanceTimePerRequest` and `cpuUse` are
    /// compared only if named here, in `primaryMeasures` or by an expectation. They are secondary
    /// unless they are also primary. All other measures need not be named here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 5))]
    #[x_kube(merge_strategy = ListMerge::Set)]
    pub additional_measures: Vec<Metric>,

    /// The smallest difference that matters, in percent from `0.1%` to `50%`: `5%` reaches from
    /// 1/1.05 to 1.05. A variant is called equivalent if the whole interval of its ratio to the
    /// baseline lies within it. `precision` aims at half of it by default.
    #[serde(default = "default_minimum_effect")]
    #[schemars(length(min = 2, max = 5))]
    #[x_kube(validation = Rule::new(validation::MINIMUM_EFFECT_RULE).message(validation::MINIMUM_EFFECT_MESSAGE))]
    pub minimum_effect: String,

    /// The smallest differences that matter in absolute terms. Default: 10 ms for cold starts,
    /// 512 KiB for memory.
    pub minimum_difference: Option<MinimumDifference>,

    /// Measures the baseline a second time, as `baseline-twin`. The twin's trials count as the
    /// baseline's, and how far the two differ is shown as the noise floor. Costs the trials of one
    /// more variant. Default: true with at least 5 blocks and 2 variants.
    pub noise_floor: Option<bool>,

    /// Which node to measure on.
    pub placement: Option<Placement>,

    /// Requests and limits of the subjects of all variants that have none of their own, because a
    /// comparison under different limits compares the limits. Default: requests of 100m CPU and
    /// 64Mi memory, a memory limit of 512Mi, and no CPU limit. A CPU limit becomes part of what is
    /// measured: the share of time for which it stopped the subject stands beside the numbers.
    pub resources: Option<SubjectResources>,

    /// Pods that belong to the experiment without being measured, such as a database.
    pub companions: Option<Companions>,

    /// The ways to execute the service, 1 to 16.
    #[schemars(length(min = 1, max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub variants: Vec<Variant>,

    /// The requests, 1 to 16. Every variant is measured under every workload.
    #[schemars(length(min = 1, max = 16))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub workloads: Vec<Workload>,

    /// What is measured.
    pub sweeps: Sweeps,

    /// What must hold for the condition `Passed`, at most 32. An expectation is met if the whole
    /// 95 % interval of its ratio or difference lies within the bounds, not met if all of it lies beyond one, and
    /// undecided otherwise. The intervals hold for all expectations simultaneously; more blocks
    /// narrow them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub expectations: Vec<RatioExpectation>,

    /// Seconds within which a subject must be running, and within which it must then give its first
    /// correct answer; otherwise its trial fails.
    #[serde(default = "number::<60>")]
    #[schemars(range(min = 1, max = 600))]
    pub subject_ready_timeout_seconds: u32,

    /// Ends the run as soon as nothing can be compared any more: when its baseline, or every other variant,
    /// cannot be measured under any workload that they share. Otherwise what is left is measured, and the
    /// status says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop_without_comparison: bool,

    /// Stops the run: its pods are removed within seconds and the node is released. Recorded trials
    /// are kept; setting it back to false continues with the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,

    /// Seconds after which a finished run is deleted together with its records and report. Default:
    /// never. An administrator's limit applies if it is shorter.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub ttl_seconds_after_finished: Option<u32>,
}

impl BenchmarkRun {
    /// Returns whether the run has finished.
    pub fn is_finished(&self) -> bool {
        let conditions = self.status.as_ref().map(|status| &*status.conditions);
        conditions.is_some_and(|all| conditions::is_true(all, conditions::FINISHED))
    }
}

fn default_minimum_effect() -> String {
    "5%".to_owned()
}
