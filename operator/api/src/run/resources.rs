//! CPU and memory of subjects.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::validation;

/// CPU and memory of a subject.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(
    validation = Rule::new(validation::CPU_RULE).message(validation::CPU_MESSAGE).field_path(".requests.cpu"),
    validation = Rule::new(validation::MEMORY_RULE).message(validation::MEMORY_MESSAGE).field_path(".requests.memory"),
    validation = Rule::new(validation::MEMORY_LIMIT_RULE).message(validation::MEMORY_LIMIT_MESSAGE).field_path(".limits.memory")
)]
pub struct SubjectResources {
    /// What is reserved on the node.
    pub requests: Option<CpuAndMemory>,

    /// What must not be exceeded. A CPU limit throttles the subject; results say for how long.
    pub limits: Option<CpuAndMemory>,
}

/// An amount of CPU and memory as Kubernetes quantities.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CpuAndMemory {
    /// CPU in cores, e.g. `500m` or `2`.
    #[schemars(length(max = 16), regex(pattern = r"^[0-9]+(\.[0-9]{1,3})?m?$"))]
    pub cpu: Option<String>,

    /// Memory in bytes, e.g. `256Mi`.
    #[schemars(length(max = 16), regex(pattern = r"^[0-9]+(Ki|Mi|Gi|k|M|G)?$"))]
    pub memory: Option<String>,
}
