//! Which runs may be compared, and which differences are named.

use serde_json::json;
use wasmbench_api::run::{Metric, MinimumDifference};
use wasmbench_model::wire::record::Record;
use wasmbench_report::across::InWords as _;
use wasmbench_results::runs::across::Weight;
use wasmbench_results::summary::collect::RunInput;

use super::support::{compared, named};
use crate::results_support::all_measured;

/// The records on a node with another kernel.
fn elsewhere(run: &RunInput) -> Vec<Record> {
    let mut records = all_measured(run);
    for document in records.iter_mut().filter_map(|r| r.load_mut()) {
        let facts = &mut document.environment.facts;
        facts.insert("kernel".into(), "6.13.0".into());
    }
    records
}

#[test]
fn another_node_forbids_the_comparison_unless_it_is_forced() {
    let (before, after) = (named("before"), named("after"));
    let (one, other) = (all_measured(&before), elsewhere(&after));
    let found = compared((&before, &one), (&after, &other), false);
    assert!(found.ratios.is_empty());
    let obstacles: Vec<&str> = found.obstacles().map(|d| d.what.as_str()).collect();
    assert_eq!(obstacles, ["fingerprint of the node", "probe.kernel"]);
    assert!(
        found.line().contains("probe.kernel: 6.12.41 -> 6.13.0"),
        "{}",
        found.line()
    );
    let forced = compared((&before, &one), (&after, &other), true);
    assert_eq!(forced.ratios.len(), 36);
    assert!(
        forced.text().contains("Warning: probe.kernel"),
        "{}",
        forced.text()
    );
}

#[test]
fn runs_must_measure_the_same_but_not_equally_often() {
    let before = named("before");
    let mut after = named("after");
    after.spec.blocks = 6;
    after.spec.expectations = vec![];
    after.spec.minimum_effect = "7%".into();
    after.spec.run_scatter = Some("2%".into());
    after.spec.minimum_difference = Some(MinimumDifference::default());
    after.spec.primary_measures = vec![Metric::WarmP50];
    if let Some(throughput) = &mut after.spec.sweeps.throughput {
        throughput.connections = vec![50, 100];
    }
    let found = compared(
        (&before, &all_measured(&before)),
        (&after, &all_measured(&after)),
        false,
    );
    assert_eq!(found.differences, []);
    // Two points that both runs have; each run has one further point of its own.
    assert_eq!((found.ratios.len(), found.only_in_one), (24, 24));
    assert!((found.minimum_effect - 1.07).abs() < 1e-9);
    assert!(
        found
            .ratios
            .iter()
            .all(|r| (r.trials_before, r.trials_after) == (5, 6))
    );
}

#[test]
fn every_part_of_what_is_measured_is_named_where_it_differs() {
    let before = named("before");
    let mut after = named("after");
    after.spec.workloads[0].path = "/other".into();
    if let Some(warm) = &mut after.spec.sweeps.warm_latency {
        warm.requests = Some(500);
    }
    after.spec.resources = serde_json::from_value(json!({"limits": {"cpu": "500m"}})).ok();
    // A sweep that only one of the runs has is no difference.
    after.spec.sweeps.cold_start = serde_json::from_value(json!({})).ok();
    after.spec.variants[1].engine = None;
    let records = all_measured(&before);
    let found = compared((&before, &records), (&after, &records), false);
    let listed: Vec<(Weight, &str)> = found
        .differences
        .iter()
        .map(|d| (d.weight, d.what.as_str()))
        .collect();
    assert_eq!(
        listed,
        [
            (Weight::Forbids, "spec.resources.limits.cpu"),
            (Weight::Forbids, "spec.sweeps.warmLatency.requests"),
            (Weight::Forbids, "spec.workloads.hello.path"),
            (Weight::Warns, "trustworthy"),
            (Weight::Compared, "spec.variants.embedded.engine.allocator"),
        ]
    );
}

#[test]
fn a_run_without_records_compares_with_nothing() {
    let (before, after) = (named("before"), named("after"));
    let found = compared((&before, &[]), (&after, &all_measured(&after)), true);
    assert!(found.ratios.is_empty());
    assert_eq!(
        found.line(),
        "nothing to compare: no number is valid in both runs"
    );
}

#[test]
fn a_limit_of_a_variant_is_part_of_what_is_compared_as_its_image_is() {
    let (before, mut after) = (named("before"), named("after"));
    let limits = json!({"limits": {"cpu": "500m"}});
    after.spec.variants[1].resources = serde_json::from_value(limits).unwrap();
    let records = all_measured(&before);
    let found = compared((&before, &records), (&after, &records), false);
    let listed: Vec<(Weight, &str)> = found
        .differences
        .iter()
        .map(|d| (d.weight, d.what.as_str()))
        .collect();
    let what = "spec.variants.embedded.resources.limits.cpu";
    assert_eq!(listed, [(Weight::Compared, what)]);
    assert!(!found.ratios.is_empty());
}
