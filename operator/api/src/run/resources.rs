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

impl SubjectResources {
    /// Returns what subjects get where the spec sets nothing. There is no CPU limit: with one, a
    /// run would measure the scheduler's throttling instead of the variant.
    pub fn fallback() -> Self {
        let amounts = |cpu: Option<&str>, memory: &str| {
            let (cpu, memory) = (cpu.map(str::to_owned), Some(memory.to_owned()));
            Some(CpuAndMemory { cpu, memory })
        };
        Self {
            requests: amounts(Some("100m"), "64Mi"),
            limits: amounts(None, "512Mi"),
        }
    }

    /// Returns these resources, completed by those of `run`. CPU and memory each come from one of
    /// the two as a whole, so that no request of the one meets a limit of the other.
    #[must_use]
    pub fn over(&self, run: &Self) -> Self {
        let cpu = if self.names_cpu() { self } else { run };
        let memory = if self.names_memory() { self } else { run };
        let joined = |cpu: Option<&CpuAndMemory>, memory: Option<&CpuAndMemory>| CpuAndMemory {
            cpu: cpu.and_then(|amounts| amounts.cpu.clone()),
            memory: memory.and_then(|amounts| amounts.memory.clone()),
        };
        Self {
            requests: Some(joined(cpu.requests.as_ref(), memory.requests.as_ref())),
            limits: Some(joined(cpu.limits.as_ref(), memory.limits.as_ref())),
        }
    }

    /// Returns whether a request or a limit of CPU is set.
    pub fn names_cpu(&self) -> bool {
        self.amounts().any(|amounts| amounts.cpu.is_some())
    }

    fn names_memory(&self) -> bool {
        self.amounts().any(|amounts| amounts.memory.is_some())
    }

    fn amounts(&self) -> impl Iterator<Item = &CpuAndMemory> {
        self.requests.iter().chain(&self.limits)
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn resources(fields: serde_json::Value) -> SubjectResources {
        serde_json::from_value(fields).unwrap()
    }

    #[test]
    fn cpu_and_memory_each_come_whole_from_the_variant_or_from_the_run() {
        let run = resources(json!({
            "requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"memory": "512Mi"},
        }));
        for (variant, expected) in [
            (
                json!({}),
                json!({"requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}}),
            ),
            // A request of 250m would be above the limit.
            (
                json!({"limits": {"cpu": "100m"}}),
                json!({"requests": {"memory": "64Mi"}, "limits": {"cpu": "100m", "memory": "512Mi"}}),
            ),
            (
                json!({"requests": {"memory": "1Gi"}}),
                json!({"requests": {"cpu": "250m", "memory": "1Gi"}, "limits": {}}),
            ),
        ] {
            assert_eq!(resources(variant).over(&run), resources(expected));
        }
    }
}
