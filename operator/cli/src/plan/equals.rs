//! Variants of a run that do not differ. A run may compare them, to see how far equals seem to differ; more often one
//! was forgotten to be changed. Pure.

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{TWIN, Variant};

/// One note for each variant that is the same as an earlier one.
pub(super) fn notes(spec: &BenchmarkRunSpec) -> Vec<String> {
    let written = || spec.variants.iter().filter(|one| one.name != TWIN);
    let note = |(index, one): (usize, &Variant)| {
        let same = written().take(index).find(|other| are_equal(other, one))?;
        Some(format!(
            "variants {} and {} are the same: between them the run can only find noise",
            same.name, one.name
        ))
    };
    written().enumerate().filter_map(note).collect()
}

fn are_equal(one: &Variant, other: &Variant) -> bool {
    let renamed = Variant {
        name: other.name.clone(),
        ..one.clone()
    };
    renamed == *other
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(variants: &Value) -> Vec<String> {
        let spec = json!({
            "variants": variants,
            "workloads": [{"name": "hello"}],
            "sweeps": {"warmLatency": {}},
        });
        notes(&serde_json::from_value(spec).unwrap())
    }

    #[test]
    fn variants_that_differ_in_their_names_alone_are_noted_and_the_twin_is_not() {
        let own = |name: &str, args: &[&str]| json!({"name": name, "container": {"image": "a/server:1", "args": args}});
        let notes = found(&json!([
            own("now", &["--fast"]),
            own("next", &["--fast"]),
            own("slow", &[]),
            own(TWIN, &["--fast"]),
            {"name": "one", "preset": "native"},
            {"name": "two", "preset": "native"},
            {"name": "three", "preset": "native", "resources": {"limits": {"cpu": "1"}}},
        ]));
        assert_eq!(
            notes,
            [
                "variants now and next are the same: between them the run can only find noise",
                "variants one and two are the same: between them the run can only find noise",
            ]
        );
    }
}
