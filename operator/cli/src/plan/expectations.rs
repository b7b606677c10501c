//! How many blocks decide each expectation. Pure.

use std::fmt::Write as _;

use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::{MOST_BLOCKS, RatioExpectation};
use wasmbench_report::table::{Align, Table};
use wasmbench_results::judge::expectations::{bounds, distance_from_equality};
use wasmbench_results::statistics::ratio::blocks_to_find;
use wasmbench_results::summary::power;

use super::earlier::{Earlier, by_fingerprint};
use super::power::scatters;

/// A table with a row per expectation, and what to change where the run's own blocks decide too little;
/// empty if nothing is expected.
pub fn expectations(spec: &BenchmarkRunSpec, earlier: &[Earlier]) -> String {
    if spec.expectations.is_empty() {
        return String::new();
    }
    let scatters = scatters(&by_fingerprint(earlier, spec));
    let titles: Vec<String> = scatters
        .iter()
        .map(|(_, shown)| format!("Trials scatter by {shown}"))
        .collect();
    let mut columns = vec![("Expectation", Align::Left), ("", Align::Left)];
    columns.extend(titles.iter().map(|title| (title.as_str(), Align::Right)));
    let mut table = Table::new(&columns);
    let mut advice = String::new();
    for one in &spec.expectations {
        let needed: Vec<Option<u32>> = scatters
            .iter()
            .map(|(scatter, _)| blocks(spec, one, *scatter))
            .collect();
        let what = format!("{} on {}: {}", one.variant, one.workload, bounds(one));
        let mut row = vec![one.name.clone(), what];
        row.extend(needed.iter().map(|blocks| takes(one, *blocks)));
        table.row(&row);
        if let Some(remedy) = remedy(spec, one, &needed) {
            let _ = writeln!(advice, "{}: {remedy}", one.name);
        }
    }
    format!(
        "\nBlocks with which 80 of 100 runs decide an expectation if the variant equals the baseline; this run has {}\n{}{advice}",
        own(spec),
        table.plain(),
    )
}

/// The blocks of the run in words.
fn own(spec: &BenchmarkRunSpec) -> String {
    match (spec.fewest_blocks(), spec.most_blocks()) {
        (least, most) if least < most => format!("{least} to {most}"),
        (blocks, _) => blocks.to_string(),
    }
}

/// The blocks that decide an expectation; `None` if more than a run may have.
fn blocks(spec: &BenchmarkRunSpec, one: &RatioExpectation, scatter: f64) -> Option<u32> {
    let distance = distance_from_equality(one)?;
    let noise = power::of_ratios(spec, scatter);
    blocks_to_find(distance, noise, spec.expectations.len(), MOST_BLOCKS)
}

fn takes(one: &RatioExpectation, blocks: Option<u32>) -> String {
    match (distance_from_equality(one), blocks) {
        (None, _) => "not known before it runs".to_owned(),
        (Some(_), None) => format!("more than {MOST_BLOCKS}"),
        (Some(_), Some(blocks)) => blocks.to_string(),
    }
}

/// What to change if the run's blocks do not decide the expectation at every scatter.
fn remedy(
    spec: &BenchmarkRunSpec,
    one: &RatioExpectation,
    needed: &[Option<u32>],
) -> Option<String> {
    let distance = distance_from_equality(one)?;
    if distance <= 0.0 {
        return Some(
            "a variant that equals the baseline never meets a bound of 1: leave room, such as atMost \"1.05\"".to_owned(),
        );
    }
    let most = spec.most_blocks();
    let enough = |blocks: &Option<u32>| blocks.is_some_and(|blocks| blocks <= most);
    if needed.iter().all(enough) {
        return None;
    }
    let field = if spec.precision.is_some() {
        "spec.precision.maxBlocks"
    } else {
        "spec.blocks"
    };
    Some(
        match needed.iter().flatten().find(|blocks| **blocks > most) {
            Some(blocks) => format!(
                "mostly undecided with {most} blocks: set {field} to {blocks} or more, or widen the bound"
            ),
            None => format!(
                "no run decides it on a noisy node: widen the bound, or measure on a quieter node with {field} at {MOST_BLOCKS}"
            ),
        },
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(blocks: u32, bounds: &serde_json::Value) -> String {
        let mut gate = json!({
            "name": "gate", "metric": "warmP50", "variant": "embedded", "workload": "hello",
        });
        for (field, value) in bounds.as_object().unwrap() {
            gate[field] = value.clone();
        }
        let spec = serde_json::from_value(json!({
            "blocks": blocks,
            "variants": [
                {"name": "native", "preset": "native"}, {"name": "embedded", "preset": "wasmtime-embedded"},
            ],
            "workloads": [{"name": "hello"}],
            "sweeps": {"warmLatency": {}},
            "expectations": [gate],
        }));
        expectations(&spec.unwrap(), &[])
    }

    #[test]
    fn each_expectation_has_the_blocks_that_decide_it_and_what_to_set() {
        let narrow = text(4, &json!({"atMost": "1.03"}));
        assert!(
            narrow.contains("embedded on hello: at most 1.03x the baseline's"),
            "{narrow}"
        );
        assert!(narrow.contains("this run has 4"), "{narrow}");
        assert!(
            narrow.contains("gate: mostly undecided with 4 blocks: set spec.blocks to "),
            "{narrow}"
        );
        let wide = text(10, &json!({"atMost": "1.5"}));
        assert!(!wide.contains("gate: "), "{wide}");
    }

    #[test]
    fn a_bound_of_1_is_no_room_for_equals() {
        let equal = text(10, &json!({"atMost": "1"}));
        assert!(equal.contains("leave room"), "{equal}");
    }

    #[test]
    fn without_expectations_there_is_nothing_to_say() {
        let spec = serde_json::from_value(json!({"variants": [], "workloads": [], "sweeps": {}}));
        assert_eq!(expectations(&spec.unwrap(), &[]), "");
    }
}
