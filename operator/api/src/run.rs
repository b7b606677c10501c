//! The `BenchmarkRun`: one comparison of variants of a service on one node.

#![expect(
    clippy::duplicated_attributes,
    reason = "the columns of #[kube(printcolumn)] share keys"
)]

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cold_start::ColdStart;
use crate::status::BenchmarkRunStatus;
use crate::validation;

/// Name of the variant that the operator adds to a run with a noise floor: the baseline once more.
pub const TWIN: &str = "baseline-twin";

/// What to compare, under which load, and how often. Immutable once created, except `suspend` and
/// `ttlSecondsAfterFinished`.
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
        name = "Verdict",
        type_ = "string",
        json_path = ".status.verdict",
        description = "The result in one line"
    ),
    printcolumn(
        name = "Trustworthy",
        type_ = "string",
        json_path = ".status.conditions[?(@.type==\"Trustworthy\")].status",
        description = "Whether the numbers can be believed; the condition says why not"
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
    validation = Rule::new(validation::EXPECTED_NAMES_RULE).message(validation::EXPECTED_NAMES_MESSAGE).field_path(".expectations"),
    validation = Rule::new(validation::EXPECTED_BASELINE_RULE).message(validation::EXPECTED_BASELINE_MESSAGE).field_path(".expectations"),
    validation = Rule::new(validation::EXPECTED_METRIC_RULE).message(validation::EXPECTED_METRIC_MESSAGE).field_path(".expectations"),
    validation = Rule::new(validation::IMMUTABLE_RULE).message(validation::IMMUTABLE_MESSAGE)
)]
pub struct BenchmarkRunSpec {
    /// Repetitions of every cell, each in a freshly shuffled order and with a fresh pod. The
    /// spread over blocks is what the run knows about its own noise; fewer than 5 say little.
    #[serde(default = "default_blocks")]
    #[schemars(range(min = 1, max = 50))]
    pub blocks: u32,

    /// Seed of the shuffled order. Derived from the run's uid when absent; status reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_i64))]
    pub seed: Option<i64>,

    /// Name of the variant that the others are compared with. Default: the first variant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 40))]
    pub baseline: Option<String>,

    /// The smallest difference that matters, in percent from `0.1%` to `50%`. A variant is called
    /// faster or slower only when its ratio to the baseline is at least this far from 1, and
    /// equivalent when the whole interval of the ratio is nearer. `5%` reaches from 1/1.05 to 1.05.
    #[serde(default = "default_minimum_effect")]
    #[schemars(length(min = 2, max = 5))]
    #[x_kube(validation = Rule::new(validation::MINIMUM_EFFECT_RULE).message(validation::MINIMUM_EFFECT_MESSAGE))]
    pub minimum_effect: String,

    /// Measures the baseline a second time, as `baseline-twin`, to learn how far two measurements
    /// of the same thing differ on this node; differences that are no larger are called
    /// `NotResolvable`. Costs the trials of one more variant. Default: true with 5 blocks and 2
    /// variants or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_floor: Option<bool>,

    /// Which node to measure on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,

    /// Requests and limits of every subject. One setting for all variants, because a comparison
    /// under different limits compares the limits. Default: 100m CPU and 64Mi requested, memory
    /// limited to 512Mi, CPU not limited (a CPU limit measures throttling).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<SubjectResources>,

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

    /// What must hold for the condition `Passed`, at most 32. An expectation is met when the whole 95 %
    /// interval of its ratio lies within the bounds, not met when all of it lies beyond one, and
    /// undecided otherwise; more blocks narrow the interval.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub expectations: Vec<RatioExpectation>,

    /// Seconds a subject has to run, and then once more to give its first correct answer, before
    /// its trial fails.
    #[serde(default = "default_ready_timeout")]
    #[schemars(range(min = 1, max = 600))]
    pub subject_ready_timeout_seconds: u32,

    /// Stops the run: its pods are removed within seconds and the node is given back. Recorded
    /// trials stay; setting it to false goes on with the rest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub suspend: bool,

    /// Seconds after which a finished run is deleted together with its records and report.
    /// Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 31_536_000))]
    pub ttl_seconds_after_finished: Option<u32>,
}

/// A bound on how a variant compares with the baseline, e.g. at least 0.8 of its throughput.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(validation::BOUND_RULE).message(validation::BOUND_MESSAGE))]
pub struct RatioExpectation {
    /// Name in the condition and the report: lower-case letters, digits and dashes, at most 40.
    #[schemars(
        length(min = 1, max = 40),
        regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
    )]
    pub name: String,

    /// What is compared.
    pub metric: ExpectedMetric,

    /// Name of the variant.
    #[schemars(length(min = 1, max = 40))]
    pub variant: String,

    /// Name of the workload.
    #[schemars(length(min = 1, max = 40))]
    pub workload: String,

    /// What the variant is compared with. Only the baseline, for now, which is also the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 40))]
    pub relative_to: Option<String>,

    /// The smallest ratio to the baseline that is good enough, as a decimal number in quotes such
    /// as `"0.8"`. For throughput, where more is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 11), regex(pattern = r"^[0-9]{1,4}(\.[0-9]{1,6})?$"))]
    pub at_least: Option<String>,

    /// The largest ratio to the baseline that is good enough, e.g. `"1.25"`. For latency, CPU and
    /// memory, where less is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 11), regex(pattern = r"^[0-9]{1,4}(\.[0-9]{1,6})?$"))]
    pub at_most: Option<String>,
}

/// A metric that an expectation can bound.
#[derive(
    Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum ExpectedMetric {
    /// Successful requests per second at the baseline's knee; needs the throughput sweep.
    ThroughputRps,
    /// Median latency of the warm subject; needs the warm-latency sweep.
    WarmP50,
    /// CPU time of the subject's pod per request.
    CpuPerRequest,
    /// Memory of the subject's pod.
    Memory,
}

/// Which node a run may measure on. One node is chosen and kept for the whole run.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Labels that the node must carry, e.g. `{"kubernetes.io/hostname": "bench-1"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend(
        "maxProperties" = 16,
        "additionalProperties" = serde_json::json!({ "type": "string", "maxLength": 63 })
    ))]
    pub node_selector: BTreeMap<String, String>,

    /// Taints of the node that the run's pods tolerate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 16), extend("x-kubernetes-list-type" = "atomic"))]
    pub tolerations: Vec<Toleration>,
}

/// A taint that is tolerated; the meaning is that of a pod's toleration.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Toleration {
    /// Key of the taint. Absent with operator `Exists`: every taint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 316))]
    pub key: Option<String>,

    /// `Equal` (default) compares `value`; `Exists` ignores it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operator: Option<TolerationOperator>,

    /// Value of the taint, with operator `Equal`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 63))]
    pub value: Option<String>,

    /// Effect of the taint: `NoSchedule`, `PreferNoSchedule` or `NoExecute`. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect: Option<TaintEffect>,
}

/// How a toleration compares the taint's value.
#[derive(
    Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr,
)]
pub enum TolerationOperator {
    /// The values must be equal.
    Equal,
    /// Any value.
    Exists,
}

/// What a taint does to pods that do not tolerate it.
#[derive(
    Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr,
)]
pub enum TaintEffect {
    /// New pods stay away.
    NoSchedule,
    /// New pods stay away if they can.
    PreferNoSchedule,
    /// Running pods leave as well.
    NoExecute,
}

/// CPU and memory of a subject.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct SubjectResources {
    /// What is reserved on the node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<CpuAndMemory>,

    /// What must not be exceeded. A CPU limit throttles the subject; the record says how often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limits: Option<CpuAndMemory>,
}

/// An amount of CPU and memory as Kubernetes quantities.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CpuAndMemory {
    /// CPU in cores, e.g. `500m` or `2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16), regex(pattern = r"^[0-9]+(\.[0-9]{1,3})?m?$"))]
    pub cpu: Option<String>,

    /// Memory in bytes, e.g. `256Mi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 16), regex(pattern = r"^[0-9]+(Ki|Mi|Gi|k|M|G)?$"))]
    pub memory: Option<String>,
}

/// A way to execute the service: a preset of wasmbench, or the user's own container.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::PRESET_OR_CONTAINER_RULE).message(validation::PRESET_OR_CONTAINER_MESSAGE),
    validation = Rule::new(validation::ENGINE_RULE).message(validation::ENGINE_MESSAGE).field_path(".engine")
)]
pub struct Variant {
    /// Name in results and labels: lower-case letters, digits and dashes, at most 40.
    #[schemars(
        length(min = 1, max = 40),
        regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
    )]
    #[x_kube(validation = Rule::new(validation::TWIN_RULE).message(validation::TWIN_MESSAGE))]
    pub name: String,

    /// One of the variants that wasmbench brings along.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<Preset>,

    /// Settings of the Wasm engine, for presets that embed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<Engine>,

    /// The user's own service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<OwnContainer>,
}

/// A variant that wasmbench brings along; docs/variants.md says what each measures.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    strum::IntoStaticStr,
    strum::EnumIter,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Preset {
    /// The gateway as a static binary under the node's default runtime (runc).
    Native,
    /// The same gateway with each answer passed through a Wasm module in-process: compiled once,
    /// a fresh instance per request.
    WasmtimeEmbedded,
}

/// Settings of an embedded Wasm engine.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Engine {
    /// How instances get their memory.
    #[serde(default)]
    pub allocator: Allocator,
}

/// How Wasm instances get their memory.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
)]
pub enum Allocator {
    /// Mapped when the instance is made and unmapped when it ends.
    #[default]
    OnDemand,
    /// Taken from a pool that is reserved when the engine starts.
    Pooling,
}

/// A container of the user's own. The list of fields is closed on purpose: whoever may create a
/// run must not gain more than that.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct OwnContainer {
    /// Image, pulled if the node does not have it. Name it by digest to repeat the run later.
    #[schemars(
        length(min = 1, max = 512),
        regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._:/@-]*$")
    )]
    pub image: String,

    /// Arguments of the image's entrypoint.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32), inner(length(max = 1024)), extend("x-kubernetes-list-type" = "atomic"))]
    pub args: Vec<String>,

    /// Environment variables. Names that begin with `WASMBENCH_` belong to the operator.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 32))]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub env: Vec<EnvVar>,

    /// Port on which the service listens for HTTP.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub port: u16,

    /// `RuntimeClass` that runs the pod, e.g. `wasmtime`. Default: the node's default runtime.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(
        length(min = 1, max = 253),
        regex(pattern = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")
    )]
    pub runtime_class_name: Option<String>,

    /// Part of the log line by which the service says that it listens: the time stamp of the first
    /// such line ends the step `listening` of a cold start. Default: the first line of the log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub listening_line: Option<String>,
}

/// An environment variable with a literal value.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct EnvVar {
    /// Name of the variable.
    #[schemars(
        length(min = 1, max = 128),
        regex(pattern = r"^[A-Za-z_][A-Za-z0-9_]*$")
    )]
    #[x_kube(validation = Rule::new(validation::ENV_RULE).message(validation::ENV_MESSAGE))]
    pub name: String,

    /// Its value, taken as it is: no expansion of `$(...)`.
    #[serde(default)]
    #[schemars(length(max = 4096))]
    pub value: String,
}

/// A request, and the answer that is right.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// Name in results and labels: lower-case letters, digits and dashes, at most 40.
    #[schemars(
        length(min = 1, max = 40),
        regex(pattern = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$")
    )]
    pub name: String,

    /// Path and query of the GET request, e.g. `/compute?iters=20000`.
    #[serde(default = "default_path")]
    #[schemars(length(min = 1, max = 1024), regex(pattern = r"^/[!-~]*$"))]
    pub path: String,

    /// What the answer must be. It is checked before and after each timed window; a variant that
    /// answers wrongly is never ranked.
    #[serde(default)]
    pub expect: Expectation,

    /// Starts an echo server on the same node and gives its address to the subject as
    /// `WASMBENCH_UPSTREAM` (host:port). The presets forward paths they do not know to it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub upstream: bool,
}

/// What an answer must be. A prefix that belongs to the variant by definition (`wasm:` of
/// wasmtime-embedded) is taken off before the body is compared.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(validation::EXPECT_RULE).message(validation::EXPECT_MESSAGE).field_path(".body"))]
pub struct Expectation {
    /// HTTP status code.
    #[serde(default = "default_status")]
    #[schemars(range(min = 100, max = 599))]
    pub status: u16,

    /// The whole body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 4096))]
    pub body: Option<String>,

    /// What the body begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub body_prefix: Option<String>,

    /// What the body ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub body_suffix: Option<String>,

    /// All variants must answer with the same body, whatever it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_across_variants: bool,
}

impl Default for Expectation {
    fn default() -> Self {
        Self {
            status: default_status(),
            body: None,
            body_prefix: None,
            body_suffix: None,
            same_across_variants: false,
        }
    }
}

/// What is measured. At least one sweep.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(validation::SWEEPS_RULE).message(validation::SWEEPS_MESSAGE))]
pub struct Sweeps {
    /// Time from the creation of a pod to its first correct answer, one point per number of pods
    /// at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold_start: Option<ColdStart>,

    /// Latency of a warm subject under very little load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_latency: Option<WarmLatency>,

    /// Rate and latency of a loaded subject, one point per number of connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Throughput>,
}

/// A fixed number of requests, one after the other on each connection.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct WarmLatency {
    /// Timed requests per trial.
    #[serde(default = "default_requests")]
    #[schemars(range(min = 10, max = 1_000_000))]
    pub requests: u32,

    /// Requests before the timed ones, which are discarded.
    #[serde(default = "default_warmup_requests")]
    #[schemars(range(min = 0, max = 100_000))]
    pub warmup_requests: u32,

    /// Connections that share the requests.
    #[serde(default = "default_warm_connections")]
    #[schemars(range(min = 1, max = 64))]
    pub connections: u32,
}

/// As many requests as the subject answers, for a fixed time.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Throughput {
    /// Numbers of connections, one sweep point each, e.g. `[10, 50, 100]`.
    #[schemars(
        length(min = 1, max = 32),
        inner(range(min = 1, max = 2000)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub connections: Vec<u32>,

    /// Length of the timed window of a trial, in seconds.
    #[serde(default = "default_duration")]
    #[schemars(range(min = 1, max = 600))]
    pub duration_seconds: u32,

    /// Load before the timed window, which is discarded, in seconds.
    #[serde(default = "default_warmup")]
    #[schemars(range(min = 0, max = 120))]
    pub warmup_seconds: u32,

    /// Whether a connection carries many requests or one.
    #[serde(default)]
    pub connection_reuse: ConnectionReuse,
}

/// Whether a connection carries many requests or one.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
)]
pub enum ConnectionReuse {
    /// Connections stay open: what clients inside a cluster mostly do.
    #[default]
    KeepAlive,
    /// A new connection for every request: the price of the handshake is part of each answer.
    PerRequest,
}

/// A text such as `5%` as a share (0.05); `None` when it is none.
pub fn share_of(percent: &str) -> Option<f64> {
    let number: f64 = percent.strip_suffix('%')?.parse().ok()?;
    number.is_finite().then_some(number / 100.0)
}

fn default_blocks() -> u32 {
    5
}
fn default_minimum_effect() -> String {
    "5%".to_owned()
}
fn default_ready_timeout() -> u32 {
    60
}
fn default_port() -> u16 {
    8080
}
fn default_path() -> String {
    "/".to_owned()
}
fn default_status() -> u16 {
    200
}
fn default_requests() -> u32 {
    300
}
fn default_warmup_requests() -> u32 {
    20
}
fn default_warm_connections() -> u32 {
    1
}
fn default_duration() -> u32 {
    30
}
fn default_warmup() -> u32 {
    5
}
