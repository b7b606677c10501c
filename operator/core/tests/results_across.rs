//! Two runs compared: which may be, what is listed, and what the numbers come to.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

#[path = "results_coldstart/support.rs"]
#[allow(dead_code, reason = "only its records are compared")]
mod cold;
mod results_support;

use results_support::{all_measured, replace, run, slower};
use serde_json::json;
use wasmbench_api::{BenchmarkRun, BenchmarkRunStatus, conditions};
use wasmbench_core::results::across::{Across, CellRatio, Side, Versus, Weight, across, earlier};
use wasmbench_core::results::compare::Metric;
use wasmbench_core::results::judge::Verdict;
use wasmbench_core::results::{RunInput, summarize};
use wasmbench_core::twin::with_twin;
use wasmbench_core::wire::density::{DENSITY_SCHEMA, DensityDocument, DensityMemory, DensityStep};
use wasmbench_core::wire::document::{NodeCpu, TimedWindow};
use wasmbench_core::wire::record::{Point, Record};

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
        assert_eq!(ratio.verdict, Some(expected), "{ratio:?}");
    }
    let natives = found
        .ratios
        .iter()
        .filter(|ratio| ratio.variant == "native");
    assert!(
        natives
            .into_iter()
            .all(|ratio| !ratio.verdict.is_some_and(Verdict::is_difference))
    );
    assert!(found.line().contains("worse"), "{}", found.line());
    insta::assert_snapshot!(found.text());
}

/// The records of a run in which the loads of `embedded` at one point take 1.3 times as long.
fn slower_at(run: &RunInput, point: Point) -> Vec<Record> {
    let mut records = all_measured(run);
    for record in &mut records {
        let cell = &record.trial.cell;
        if cell.variant == "embedded" && cell.point == point {
            let timed = record.document.as_mut().and_then(|d| d.timed.as_mut());
            let Some(timed) = timed else { continue };
            timed.fortio = slower(timed.fortio.clone(), 1.3);
        }
    }
    records
}

#[test]
fn nothing_is_judged_beyond_the_knee_of_the_earlier_baseline() {
    let with_points = |name: &str| {
        let mut input = named(name);
        if let Some(throughput) = &mut input.spec.sweeps.throughput {
            throughput.connections = vec![10, 50, 100];
        }
        input
    };
    let (before, after) = (with_points("before"), with_points("after"));
    let rate = |connections: u32| {
        let found = compared(
            (&before, &all_measured(&before)),
            (
                &after,
                &slower_at(&after, Point::Throughput { connections }),
            ),
            false,
        );
        let point = format!("c{connections}");
        let is_rate = |r: &&CellRatio| {
            (r.variant.as_str(), r.workload.as_str(), r.metric)
                == ("embedded", "hello", Metric::ThroughputRps)
        };
        let mut rates = found.ratios.iter().filter(is_rate);
        (rates.find(|r| r.point == point).cloned(), found)
    };
    // 50 connections are the knee: 100 have the same rate, and 10 four fifths of it.
    let (at_knee, found) = rate(50);
    assert_eq!(at_knee.and_then(|r| r.verdict), Some(Verdict::Slower));
    assert_eq!(
        (found.worse(), found.judged(), found.ratios.len()),
        (2, 36, 48)
    );
    let (beyond, found) = rate(100);
    assert_eq!(
        (found.worse(), found.judged(), found.ratios.len()),
        (0, 36, 48)
    );
    let shown = beyond.map(|r| (r.ratio < 0.8, r.verdict, r.adjusted_p_value));
    assert_eq!(shown, Some((true, None, None)));
    let text = found.text();
    assert!(
        text.contains("0.77x (0.73-0.81), beyond the knee"),
        "{text}"
    );
    assert_eq!(found.line(), "none of 36 numbers is worse or better");
}

/// A run of one sweep, with the fixture's two variants.
fn of_sweep(name: &str, sweeps: serde_json::Value) -> RunInput {
    let mut input = named(name);
    input.spec.workloads.truncate(1);
    input.spec.sweeps = serde_json::from_value(sweeps).unwrap_or_default();
    input
}

#[test]
fn a_p99_from_the_schedule_of_too_few_requests_is_not_compared() {
    let sweep = json!({"openLoop": {"ratesPercentOfPeak": [90]}});
    let (before, after) = (of_sweep("before", sweep.clone()), of_sweep("after", sweep));
    let many = all_measured(&before);
    let mut few = all_measured(&after);
    for timed in few
        .iter_mut()
        .filter_map(|r| r.document.as_mut()?.timed.as_mut())
    {
        // 300 requests.
        timed.fortio = results_support::fortio("exactly");
    }
    let tails = |before_records: &[Record], after_records: &[Record]| {
        let found = compared((&before, before_records), (&after, after_records), false);
        let tails = found
            .ratios
            .iter()
            .filter(|r| r.metric == Metric::OpenLoopP99);
        (tails.count(), found.only_in_one)
    };
    assert_eq!(tails(&many, &many), (2, 0));
    assert_eq!(tails(&many, &few), (0, 2));
    assert_eq!(tails(&few, &many), (0, 2));
}

/// Climbs of `native` and `embedded` whose instances take as many MiB each, within a percent.
fn climbs(run: &RunInput, embedded: u64) -> Vec<Record> {
    let template = all_measured(&named("template")).remove(0);
    let timed = template.document.as_ref().and_then(|d| d.timed.clone());
    let trials = results_support::trials(run).into_iter().zip(0..);
    let records = trials.map(|(trial, position)| {
        let own = if trial.cell.variant == "embedded" {
            embedded
        } else {
            10
        };
        let per = own * (1 << 20) + u64::from(trial.block) * (own << 20) / 500;
        let step = |instances: u32| DensityStep {
            instances,
            added: 1,
            all_answered_nanoseconds: 900_000_000,
            first: timed.clone().unwrap_or_default(),
            memory: Some(DensityMemory {
                pods_bytes: u64::from(instances) * per,
                ..DensityMemory::default()
            }),
            node_available_bytes: None,
        };
        let document = DensityDocument {
            schema: DENSITY_SCHEMA.into(),
            probe_version: "0.1.0".into(),
            fortio_version: "1.68.2".into(),
            failure: None,
            steps: [1, 2, 5].map(step).into(),
            stopped: None,
            answer: None,
            image_id: None,
            environment: template
                .document
                .as_ref()
                .map(|d| d.environment.clone())
                .unwrap_or_default(),
        };
        Record {
            trial,
            position,
            document: None,
            density: Some(document),
            ..template.clone()
        }
    });
    records.collect()
}

#[test]
fn twice_the_memory_per_instance_is_worse_than_before() {
    let sweep = json!({"density": {"instances": [1, 2, 5]}});
    let (before, after) = (of_sweep("before", sweep.clone()), of_sweep("after", sweep));
    let found = compared(
        (&before, &climbs(&before, 20)),
        (&after, &climbs(&after, 40)),
        false,
    );
    let ratio = |variant: &str| {
        let mut ratios = found.ratios.iter();
        ratios.find(|r| r.variant == variant && r.point == "density")
    };
    let embedded = ratio("embedded");
    assert_eq!(embedded.and_then(|r| r.verdict), Some(Verdict::Larger));
    assert!(
        embedded.is_some_and(|r| (r.ratio - 2.0).abs() < 0.01 && r.metric == Metric::Memory),
        "{embedded:?}"
    );
    assert_eq!(
        ratio("native").and_then(|r| r.verdict),
        Some(Verdict::Equivalent)
    );
    assert_eq!((found.worse(), found.only_in_one), (1, 0));
    // A run that never measured it has none to compare with.
    let none = compared((&before, &climbs(&before, 20)), (&after, &[]), true);
    assert_eq!((none.ratios.len(), none.only_in_one), (0, 2));
}

type Change = fn(&mut TimedWindow);

/// `records` of climbs, of which `embedded` had its second step measured so in these blocks.
fn spoilt(mut records: Vec<Record>, blocks: &[u32], change: Change) -> Vec<Record> {
    for record in &mut records {
        let is_meant = record.trial.cell.variant == "embedded";
        if is_meant && blocks.contains(&record.trial.block) {
            change(&mut record.density.as_mut().unwrap().steps[1].first);
        }
    }
    records
}

fn throttled(window: &mut TimedWindow) {
    window.subject.as_mut().unwrap().throttled_periods = Some(4);
}

fn noisy(window: &mut TimedWindow) {
    window.duration_nanoseconds = 1_000_000_000;
    window.node = Some(NodeCpu {
        busy_nanoseconds: 2_000_000_000,
        ..NodeCpu::default()
    });
}

#[test]
fn an_invalid_density_of_either_run_is_not_compared() {
    let sweep = json!({"density": {"instances": [1, 2, 5]}});
    let (before, after) = (of_sweep("before", sweep.clone()), of_sweep("after", sweep));
    let (light, heavy) = (climbs(&before, 20), climbs(&after, 40));
    let found = |one: &[Record], other: &[Record]| {
        let found = compared((&before, one), (&after, other), false);
        let variants = found.ratios.iter().map(|ratio| ratio.variant.clone());
        let variants: Vec<String> = variants.collect();
        (variants.join(" "), found.worse(), found.only_in_one)
    };
    let both = "native embedded".to_owned();
    assert_eq!(found(&light, &heavy), (both.clone(), 1, 0));
    // One climb under a CPU limit, or two of five on a noisy node.
    let spoilers: [(&[u32], Change); 2] = [(&[2], throttled), (&[2, 4], noisy)];
    for (blocks, change) in spoilers {
        let spoil = |records: &[Record]| spoilt(records.to_vec(), blocks, change);
        let native = |only_in_one: u32| ("native".to_owned(), 0, only_in_one);
        assert_eq!(found(&light, &spoil(&heavy)), native(1), "{blocks:?}");
        assert_eq!(found(&spoil(&light), &heavy), native(1), "{blocks:?}");
        assert_eq!(
            found(&spoil(&light), &spoil(&heavy)),
            native(0),
            "{blocks:?}"
        );
    }
    // A single noisy climb is left out, and the others are compared.
    let single = spoilt(heavy, &[2], noisy);
    assert_eq!(found(&light, &single), (both, 1, 0));
}

#[test]
fn an_invalid_density_is_not_worse_than_that_of_a_named_run() {
    let sweep = json!({"density": {"instances": [1, 2, 5]}});
    let (before, after) = (of_sweep("before", sweep.clone()), of_sweep("after", sweep));
    let one = summarize(&before, &climbs(&before, 20));
    let worse = |records: &[Record]| {
        let other = summarize(&after, records);
        let versus = Versus::of("before", Ok((&before.spec, &one)), (&after.spec, &other));
        let status = versus.status();
        (status.compared, status.worse)
    };
    let heavy = climbs(&after, 40);
    assert_eq!(worse(&heavy), (true, 1));
    assert_eq!(worse(&spoilt(heavy, &[2], throttled)), (true, 0));
}

/// A run of cold starts. Of the 15 pods of `hare` that are started one at a time, so many are answered
/// at the first attempt.
fn thawed(name: &str, at_first_attempt: usize) -> (RunInput, Vec<Record>) {
    let input = RunInput {
        name: name.into(),
        ..cold::input()
    };
    let mut records = cold::records();
    let samples = cold::hares(&mut records).flat_map(|document| &mut document.samples);
    let counted = samples.filter(|sample| !sample.discarded);
    let pods = counted.flat_map(|sample| &mut sample.pods);
    for pod in pods.take(at_first_attempt) {
        pod.attempts = 1;
    }
    (input, records)
}

/// What is compared of `hare`'s cold starts one at a time, all ratios, and what only one of the runs has.
fn of_hare(before: &(RunInput, Vec<Record>), after: &(RunInput, Vec<Record>)) -> HareFound {
    let found = compared((&before.0, &before.1), (&after.0, &after.1), false);
    let ratios = found.ratios.iter();
    let of_hare = ratios.filter(|ratio| ratio.variant == "hare" && ratio.point == "cold");
    let metrics = of_hare.map(|ratio| ratio.metric).collect();
    (metrics, found.ratios.len(), found.only_in_one)
}

type HareFound = (Vec<Metric>, usize, u32);

#[test]
fn answers_of_which_most_came_at_the_first_attempt_in_either_run_are_not_compared() {
    let found = |before: usize, after: usize| {
        let (before, after) = (thawed("before", before), thawed("after", after));
        of_hare(&before, &after)
    };
    let (listening, answer) = (Metric::ColdStartListening, Metric::ColdStartAnswer);
    assert_eq!(found(7, 7), (vec![listening, answer], 8, 0));
    assert_eq!(found(0, 8), (vec![listening], 7, 1));
    assert_eq!(found(8, 0), (vec![listening], 7, 1));
    assert_eq!(found(8, 8), (vec![listening], 7, 0));
}

#[test]
fn a_point_of_cold_starts_whose_class_did_not_hold_in_either_run_is_not_compared() {
    let (good, mut bad) = (thawed("good", 0), thawed("bad", 0));
    let document = cold::hares(&mut bad.1).next().unwrap();
    document.samples[3].wrong_class = true;
    assert_eq!(of_hare(&good, &bad), (vec![], 6, 2));
    assert_eq!(of_hare(&bad, &good), (vec![], 6, 2));
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
