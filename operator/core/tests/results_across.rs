//! Two runs compared: which may be, what is listed, and what the numbers come to.

mod results_support;

use results_support::{all_measured, replace, run, slower};
use serde_json::json;
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus, conditions};
use wasmbench_core::results::across::{Across, Side, Versus, Weight, across, earlier};
use wasmbench_core::results::compare::Metric;
use wasmbench_core::results::judge::Verdict;
use wasmbench_core::results::{RunInput, summarize};
use wasmbench_core::twin::with_twin;
use wasmbench_core::wire::record::Record;

fn named(name: &str) -> RunInput {
    RunInput {
        name: name.into(),
        ..run()
    }
}

fn compared(before: (&RunInput, &[Record]), after: (&RunInput, &[Record]), forced: bool) -> Across {
    let (one, other) = (summarize(before.0, before.1), summarize(after.0, after.1));
    across(
        Side {
            spec: &before.0.spec,
            summary: &one,
        },
        Side {
            spec: &after.0.spec,
            summary: &other,
        },
        forced,
    )
}

/// The records of a run in which everything of `embedded` takes `factor` times as long, from another
/// image.
fn changed(run: &RunInput, factor: f64) -> Vec<Record> {
    let mut records = all_measured(run);
    replace(
        &mut records,
        |trial| trial.cell.variant == "embedded",
        |trial, position| {
            let mut record = results_support::measured(trial, position);
            let window = record.document.as_mut().and_then(|d| d.timed.as_mut());
            if let Some(window) = window {
                window.fortio = slower(window.fortio.clone(), factor);
            }
            if let Some(subject) = &mut record.subject {
                subject.image_id = Some("sha256:changed".into());
            }
            record
        },
    );
    records
}

/// The records on a node with another kernel.
fn elsewhere(run: &RunInput) -> Vec<Record> {
    let mut records = all_measured(run);
    for document in records.iter_mut().filter_map(|r| r.document.as_mut()) {
        let facts = &mut document.environment.facts;
        facts.insert("kernel".into(), "6.13.0".into());
    }
    records
}

#[test]
fn a_run_compared_with_its_like_differs_in_nothing() {
    let (before, after) = (named("before"), named("after"));
    let records = all_measured(&before);
    let found = compared((&before, &records), (&after, &records), false);
    assert_eq!(found.differences, []);
    // Two variants, two workloads, three points, three metrics each.
    assert_eq!(found.ratios.len(), 36);
    assert_eq!(
        (found.worse(), found.better(), found.only_in_one),
        (0, 0, 0)
    );
    for ratio in &found.ratios {
        assert!((ratio.ratio - 1.0).abs() < 1e-9, "{ratio:?}");
        assert!(
            ratio.low <= Some(1.0) && Some(1.0) <= ratio.high,
            "{ratio:?}"
        );
    }
}

#[test]
fn a_slower_image_is_named_and_its_numbers_are_slower() {
    let (before, after) = (named("before"), named("after"));
    let found = compared(
        (&before, &all_measured(&before)),
        (&after, &changed(&after, 1.3)),
        false,
    );
    let listed: Vec<(Weight, &str)> = found
        .differences
        .iter()
        .map(|d| (d.weight, d.what.as_str()))
        .collect();
    assert_eq!(listed, [(Weight::Compared, "image of embedded")]);
    for ratio in &found.ratios {
        let expected = match (ratio.variant.as_str(), ratio.metric) {
            ("embedded", Metric::ThroughputRps | Metric::WarmP50) => Verdict::Slower,
            _ => continue,
        };
        assert_eq!(ratio.verdict, expected, "{ratio:?}");
    }
    let natives = found
        .ratios
        .iter()
        .filter(|ratio| ratio.variant == "native");
    assert!(
        natives
            .into_iter()
            .all(|ratio| !ratio.verdict.is_difference())
    );
    assert!(found.line().contains("worse"), "{}", found.line());
    insta::assert_snapshot!(found.text());
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
fn what_is_measured_must_be_the_same_and_how_often_need_not() {
    let before = named("before");
    let mut after = named("after");
    after.spec.blocks = 6;
    after.spec.expectations = vec![];
    after.spec.minimum_effect = "7%".into();
    if let Some(throughput) = &mut after.spec.sweeps.throughput {
        throughput.connections = vec![50, 100];
    }
    let found = compared(
        (&before, &all_measured(&before)),
        (&after, &all_measured(&after)),
        false,
    );
    assert_eq!(found.differences, []);
    // Two points of both runs; one of each stands alone.
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
        warm.requests = 500;
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

/// A finished run as the API has it.
fn finished(input: &RunInput) -> BenchmarkRun {
    let mut run = BenchmarkRun::new(&input.name, input.spec.clone());
    run.metadata.uid = Some(input.uid.clone());
    let done = conditions::yes(conditions::FINISHED, "Completed", "");
    run.status = Some(BenchmarkRunStatus {
        seed: Some(42),
        conditions: conditions::merge(&[], vec![done], Some(1), jiff::Timestamp::UNIX_EPOCH),
        ..BenchmarkRunStatus::default()
    });
    run
}

#[test]
fn a_named_run_that_cannot_be_compared_with_is_a_reason() {
    let reason = |run: Option<&BenchmarkRun>| earlier("before", run).err().unwrap_or_default();
    assert!(reason(None).contains("there is no BenchmarkRun 'before'"));
    let mut run = finished(&named("before"));
    assert_eq!(reason(Some(&run)), "");
    run.status = run.status.map(|status| BenchmarkRunStatus {
        seed: None,
        ..status
    });
    assert!(reason(Some(&run)).contains("measured nothing"));
    run.status = None;
    assert!(reason(Some(&run)).contains("was not finished"));
    let (after, records) = (named("after"), all_measured(&named("after")));
    let summary = summarize(&after, &records);
    let versus = Versus::of(
        "before",
        Err("it is gone".to_owned()),
        (&after.spec, &summary),
    );
    assert_eq!(versus.text(), "Not compared with before: it is gone.\n");
    assert!(!versus.status().compared);
}

#[test]
fn a_named_run_is_compared_with_and_the_status_counts_what_is_worse() {
    let (before, after) = (named("before"), named("after"));
    let input = earlier("before", Some(&finished(&before)));
    assert_eq!(
        input.map(|input| input.name).ok().as_deref(),
        Some("before")
    );
    let one = summarize(&before, &all_measured(&before));
    let other = summarize(&after, &changed(&after, 1.3));
    // The operator holds the later spec with the twin, where there is one.
    let mut spec = after.spec.clone();
    spec.noise_floor = Some(true);
    let spec = with_twin(&spec);
    let versus = Versus::of("before", Ok((&before.spec, &one)), (&spec, &other));
    let status = versus.status();
    assert!(status.compared, "{status:?}");
    assert_eq!((status.worse, status.better), (6, 0), "{status:?}");
    assert!(
        status
            .message
            .starts_with("6 of 36 numbers are worse, none is better; most: embedded")
    );
    assert!(
        versus
            .text()
            .contains("image of embedded: sha256:embedded -> sha256:changed")
    );
}
