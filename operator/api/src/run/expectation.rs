//! What must hold for the condition `Passed`.

use kube::KubeSchema;
use serde::{Deserialize, Serialize};

use crate::run::metric::Metric;
use crate::validation;

/// A bound on how a variant compares with the baseline, e.g. at least 0.8 of its throughput.
#[serde_with::skip_serializing_none]
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
    pub metric: Metric,

    /// Name of the variant.
    #[schemars(length(min = 1, max = 40))]
    pub variant: String,

    /// Name of the workload.
    #[schemars(length(min = 1, max = 40))]
    pub workload: String,

    /// What the variant is compared with. Only the baseline for now, which is also the default.
    #[schemars(length(min = 1, max = 40))]
    pub relative_to: Option<String>,

    /// The smallest ratio to the baseline that is good enough, as a decimal number in quotes such
    /// as `"0.8"`. For throughput and `succeeded`, where more is better.
    #[schemars(length(max = 11), regex(pattern = r"^[0-9]{1,4}(\.[0-9]{1,6})?$"))]
    pub at_least: Option<String>,

    /// The largest ratio to the baseline that is good enough, e.g. `"1.25"`. For times, CPU and
    /// memory, where less is better.
    #[schemars(length(max = 11), regex(pattern = r"^[0-9]{1,4}(\.[0-9]{1,6})?$"))]
    pub at_most: Option<String>,
}
