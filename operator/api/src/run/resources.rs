//! CPU and memory of subjects.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{quantity, validation};

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

/// An amount of CPU and memory, in any form in which Kubernetes takes quantities.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CpuAndMemory {
    /// CPU in cores, e.g. `500m`, `0.5` or `2`.
    #[serde(default, deserialize_with = "quantity::deserialize")]
    #[schemars(length(max = 32), regex(pattern = quantity::PATTERN))]
    pub cpu: Option<String>,

    /// Memory in bytes, e.g. `256Mi` or `1.5Gi`.
    #[serde(default, deserialize_with = "quantity::deserialize")]
    #[schemars(length(max = 32), regex(pattern = quantity::PATTERN))]
    pub memory: Option<String>,
}
