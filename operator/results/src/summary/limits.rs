//! The limits of variants, where these are what a run compares.

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::quantity::thousandths;
use wasmbench_api::run::TWIN;

/// What a pod of a variant may use. An amount is absent where there is no limit.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct VariantLimits {
    /// Name of the variant.
    pub variant: String,
    /// CPU in cores, as Kubernetes writes it: `500m`.
    pub cpu: Option<String>,
    /// Memory in bytes, as Kubernetes writes it: `256Mi`.
    pub memory: Option<String>,
}

impl VariantLimits {
    /// Both limits: `500m CPU, 256Mi`.
    pub fn text(&self) -> String {
        let cpu = match &self.cpu {
            Some(cpu) => format!("{cpu} CPU"),
            None => "no CPU limit".to_owned(),
        };
        let memory = self.memory.as_deref().unwrap_or("no memory limit");
        format!("{cpu}, {memory}")
    }

    /// The CPU limit, in cores.
    pub fn cores(&self) -> Option<f64> {
        number(self.cpu.as_deref()?)
    }

    /// The memory limit, in bytes.
    pub fn bytes(&self) -> Option<f64> {
        number(self.memory.as_deref()?)
    }
}

fn number(amount: &str) -> Option<f64> {
    Some(thousandths(amount)? as f64 / 1e3)
}

/// The limits of all variants, in the order of the spec; empty unless a variant has resources of its
/// own.
pub fn limits(spec: &BenchmarkRunSpec) -> Vec<VariantLimits> {
    if spec.variants.iter().all(|one| one.resources.is_none()) {
        return vec![];
    }
    let variants = spec.variants.iter().filter(|one| one.name != TWIN);
    let limits = variants.map(|variant| {
        let limits = spec.resources_of(variant).limits.unwrap_or_default();
        VariantLimits {
            variant: variant.name.clone(),
            cpu: limits.cpu,
            memory: limits.memory,
        }
    });
    limits.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn limits_of(resources: [serde_json::Value; 2]) -> Vec<VariantLimits> {
        let [one, other] = resources;
        let spec = json!({
            "variants": [
                {"name": "one", "preset": "native", "resources": one},
                {"name": "other", "preset": "native", "resources": other},
            ],
            "workloads": [{"name": "hello"}],
            "sweeps": {},
        });
        limits(&serde_json::from_value(spec).unwrap())
    }

    #[test]
    fn limits_are_listed_for_all_variants_as_soon_as_one_has_its_own() {
        assert_eq!(limits_of([json!(null), json!(null)]), []);
        let found = limits_of([json!({"limits": {"cpu": "1500m"}}), json!(null)]);
        let texts: Vec<String> = found.iter().map(VariantLimits::text).collect();
        assert_eq!(texts, ["1500m CPU, 512Mi", "no CPU limit, 512Mi"]);
        assert_eq!(found[0].cores(), Some(1.5));
        assert_eq!(found[1].bytes(), Some(512.0 * 1024.0 * 1024.0));
    }
}
