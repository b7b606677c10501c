//! The baseline's twin: the baseline measured a second time as if it were another variant. Since
//! both are the baseline, any difference between the two is what the node does to individual pods.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::TWIN;

/// With fewer blocks, the twin's interval is so wide that it would drown everything.
const FEWEST_BLOCKS: u32 = 5;

/// The spec as it is measured: with the twin as the last variant, if the run has one.
#[must_use]
pub fn with_twin(spec: &BenchmarkRunSpec) -> BenchmarkRunSpec {
    let mut measured = without_twin(spec);
    if !is_wanted(&measured) {
        return measured;
    }
    let name = measured.baseline_name();
    let mut variants = measured.variants.iter();
    let baseline = variants.find(|variant| variant.name == name);
    if let Some(mut twin) = baseline.cloned() {
        TWIN.clone_into(&mut twin.name);
        measured.variants.push(twin);
    }
    measured
}

/// The spec as it was written.
#[must_use]
pub fn without_twin(spec: &BenchmarkRunSpec) -> BenchmarkRunSpec {
    let mut written = spec.clone();
    written.variants.retain(|variant| variant.name != TWIN);
    written
}

/// Whether a run of this spec measures the twin.
pub fn is_measured(spec: &BenchmarkRunSpec) -> bool {
    is_wanted(&without_twin(spec))
}

/// Unless the spec sets it, a twin is wanted when there is something to compare, in enough
/// blocks.
fn is_wanted(spec: &BenchmarkRunSpec) -> bool {
    let default = spec.blocks >= FEWEST_BLOCKS && spec.variants.len() > 1;
    spec.noise_floor.unwrap_or(default)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn spec(more: &serde_json::Value) -> BenchmarkRunSpec {
        let mut spec = json!({
            "blocks": 5,
            "variants": [{"name": "one", "preset": "native"}, {"name": "two"}],
            "workloads": [{"name": "hello"}],
            "sweeps": {},
        });
        for (field, value) in more.as_object().unwrap() {
            spec[field] = value.clone();
        }
        serde_json::from_value(spec).unwrap()
    }

    fn has_twin(more: &serde_json::Value) -> bool {
        let spec = spec(more);
        let measured = with_twin(&spec);
        let has_one = measured.variants.iter().any(|variant| variant.name == TWIN);
        assert_eq!(is_measured(&spec), has_one);
        assert_eq!(is_measured(&measured), has_one);
        has_one
    }

    #[test]
    fn the_twin_is_the_baseline_under_another_name() {
        let measured = with_twin(&spec(&json!({"baseline": "one"})));
        assert_eq!(measured.variants.len(), 3);
        assert_eq!(measured.variants[2].preset, measured.variants[0].preset);
        assert_eq!(without_twin(&measured).variants.len(), 2);
        assert_eq!(with_twin(&measured), measured);
    }

    #[test]
    fn a_twin_is_measured_by_default_from_five_blocks_and_two_variants() {
        assert!(has_twin(&json!({})));
        assert!(!has_twin(&json!({"blocks": 4})));
        assert!(!has_twin(&json!({"variants": [{"name": "alone"}]})));
    }

    #[test]
    fn the_spec_overrides_the_default() {
        assert!(!has_twin(&json!({"noiseFloor": false})));
        assert!(has_twin(&json!({"noiseFloor": true, "blocks": 2})));
        assert!(has_twin(
            &json!({"noiseFloor": true, "variants": [{"name": "alone"}]})
        ));
    }
}
