//! What must hold for the condition `Passed`.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validation;

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
    /// CPU time of the subject's pod per request; needs the throughput sweep or the warm-latency sweep.
    CpuPerRequest,
    /// Memory of the subject's pod under load; needs the throughput sweep or the warm-latency sweep.
    Memory,
    /// Time from the creation of a pod until its service says that it listens; needs the cold-start
    /// sweep, whose fewest pods at once count.
    ColdStartListening,
    /// Time from the creation of a pod until its first correct answer; needs the cold-start sweep,
    /// whose fewest pods at once count.
    ColdStartAnswer,
    /// 99th percentile of latency from the schedule; needs the open-loop sweep, whose highest rate
    /// counts.
    OpenLoopP99,
}
