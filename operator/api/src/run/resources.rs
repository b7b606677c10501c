//! CPU and memory of subjects.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validation;

/// CPU and memory of a subject.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::CPU_RULE).message(validation::CPU_MESSAGE).field_path(".requests.cpu"),
    validation = Rule::new(validation::MEMORY_RULE).message(validation::MEMORY_MESSAGE).field_path(".requests.memory"),
    validation = Rule::new(validation::MEMORY_LIMIT_RULE).message(validation::MEMORY_LIMIT_MESSAGE).field_path(".limits.memory")
)]
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
