//! What the numbers of two runs say.

use serde_json::json;
use wasmbench_api::run::TWIN;
use wasmbench_model::twin::with_twin;
use wasmbench_model::wire::record::{Point, Record};
use wasmbench_report::across::InWords as _;
use wasmbench_results::judge::comparison::Difference;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::runs::across::{CellRatio, Unjudged, Weight};
use wasmbench_results::summary::collect::RunInput;
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{changed, climbing, compared, named, of_sweep};
use crate::results_support::{all_measured, fortio, slow};

#[test]
fn a_run_compared_with_an_identical_one_differs_in_nothing() {
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
fn the_twin_counts_as_the_baseline_across_runs() {
    let with = |name: &str| {
        let mut input = named(name);
        input.spec.noise_floor = Some(true);
        input.spec = with_twin(&input.spec);
        input
    };
    let (before, after) = (with("before"), with("after"));
    let mut records = all_measured(&after);
    slow(&mut records, |trial| {
        (trial.cell.variant == TWIN).then_some(4.0)
    });
    let found = compared((&before, &all_measured(&before)), (&after, &records), false);
    let mut ratios = found.ratios.iter();
    let of_embedded = |ratio: &&CellRatio| {
        (ratio.variant.as_str(), ratio.metric) == ("embedded", Metric::WarmP50)
    };
    let versus = ratios.find(of_embedded).unwrap().versus_baseline.unwrap();
    // The baseline's number is the mean of both on the log scale: twice as long.
    let change = versus.after / versus.before;
    assert!((change - 0.5).abs() < 0.02, "{versus:?}");
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
    let (natives, embedded): (Vec<_>, Vec<_>) = found
        .ratios
        .iter()
        .partition(|ratio| ratio.variant == "native");
    let is_time = |metric| matches!(metric, Metric::ThroughputRps | Metric::WarmP50);
    let times = embedded.iter().filter(|ratio| is_time(ratio.metric));
    let verdicts: Vec<Option<Verdict>> = times.map(|ratio| ratio.verdict).collect();
    assert_eq!(verdicts, [Some(Verdict::Slower); 6]);
    assert_eq!(natives.len(), embedded.len());
    let is_difference = |verdict: Option<Verdict>| verdict.is_some_and(Verdict::is_difference);
    assert!(!natives.iter().any(|ratio| is_difference(ratio.verdict)));
    assert!(found.line().contains("worse"), "{}", found.line());
    insta::assert_snapshot!(found.text());
}

#[test]
fn the_change_that_is_named_goes_farthest_beyond_what_matters() {
    let (before, after) = (named("before"), named("after"));
    let mut found = compared(
        (&before, &all_measured(&before)),
        (&after, &changed(&after, 1.25)),
        false,
    );
    // On a slower cluster all starts take longer, whatever the variant adds to them.
    let start = |milliseconds: f64| CellRatio {
        variant: "late".into(),
        metric: Metric::ColdStartListening,
        ratio: 1.3,
        difference: Some(Difference {
            value: milliseconds * 1e3,
            low: None,
            high: None,
            smallest: 10_000.0,
            at_least: None,
            smallest_found: None,
        }),
        smallest: None,
        verdict: Some(Verdict::Slower),
        ..found.ratios[0].clone()
    };
    let [near, far] = [12.0, 80.0].map(start);
    found.ratios.push(near);
    let line = found.line();
    assert!(line.contains("most: embedded "), "{line}");
    found.ratios.push(far);
    let line = found.line();
    assert!(
        line.contains("most: late cold start to listening"),
        "{line}"
    );
}

/// The records of a run in which the loads of `embedded` at one point take 1.3 times as long.
fn slower_at(run: &RunInput, point: Point) -> Vec<Record> {
    let mut records = all_measured(run);
    slow(&mut records, |trial| {
        let is_meant = trial.cell.variant == "embedded" && trial.cell.point == point;
        is_meant.then_some(1.3)
    });
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
        let point = format!("throughput-c{connections}");
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
        (2, 18, 48)
    );
    let (beyond, found) = rate(100);
    assert_eq!(
        (found.worse(), found.judged(), found.ratios.len()),
        (0, 18, 48)
    );
    let shown = beyond.map(|r| (r.ratio < 0.8, r.verdict, r.adjusted_p_value));
    assert_eq!(shown, Some((true, None, None)));
    let text = found.text();
    assert!(
        text.contains("0.77x (0.73-0.81), beyond the knee"),
        "{text}"
    );
    assert_eq!(found.line(), "none of 18 numbers is worse or better");
}

#[test]
fn a_p99_from_the_schedule_of_too_few_requests_is_not_compared() {
    let sweep = json!({"openLoop": {"rates": [500]}});
    let (before, after) = (of_sweep("before", sweep.clone()), of_sweep("after", sweep));
    let many = all_measured(&before);
    let mut few = all_measured(&after);
    for timed in few.iter_mut().filter_map(|r| r.load_mut()?.timed.as_mut()) {
        // 300 requests.
        timed.fortio = fortio("exactly");
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

#[test]
fn twice_the_memory_per_instance_is_worse_than_before() {
    let sweep = json!({"density": {"instances": [1, 2, 5]}});
    let (before, after) = (of_sweep("before", sweep.clone()), of_sweep("after", sweep));
    let found = compared(
        (&before, &climbing(&before, 20)),
        (&after, &climbing(&after, 40)),
        false,
    );
    let ratio = |variant: &str| {
        let mut ratios = found.ratios.iter();
        ratios.find(|r| r.variant == variant && r.point == "density")
    };
    let embedded = ratio("embedded");
    assert_eq!(embedded.and_then(|r| r.verdict), Some(Verdict::Larger));
    assert!(
        embedded
            .is_some_and(|r| (r.ratio - 2.0).abs() < 0.01 && r.metric == Metric::MemoryPerInstance),
        "{embedded:?}"
    );
    assert_eq!(
        ratio("native").and_then(|r| r.unjudged),
        Some(Unjudged::TooFewRuns)
    );
    assert_eq!((found.worse(), found.only_in_one), (1, 0));
    // A run that never measured the point has none to compare with.
    let none = compared((&before, &climbing(&before, 20)), (&after, &[]), true);
    assert_eq!((none.ratios.len(), none.only_in_one), (0, 2));
}
