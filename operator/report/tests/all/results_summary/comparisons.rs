//! Ratios to the baseline, its twin, expectations, and where variants are compared.

use serde_json::json;
use wasmbench_controller::status::rows::status_rows;
use wasmbench_model::wire::record::{Outcome, Point, TrialId};
use wasmbench_report::files::report_files_of;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::expectations::Fulfilment;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::summary::trust::{Trust, trust};
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{doubt, verdict_on, with_twin, with_window};
use crate::results_support::{all_measured, fortio, record, replace, run, run_with, slow, slower};

#[test]
fn a_clean_run_is_trustworthy_and_states_a_number() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
    assert_eq!(summary.trials.valid, 60);
    let line = &summary.verdict;
    let (first, others) = line.split_once("; ").unwrap();
    assert!(first.starts_with("embedded: 1.92x native's "), "{line}");
    assert!(
        first.contains(" on hello (1.90-1.94), at least 89 % "),
        "{line}"
    );
    assert!(others.starts_with("embedded: 1.04x "), "{line}");
    assert!(others.contains(" on compute, equivalent"), "{line}");
}

#[test]
fn a_p99_of_three_hundred_requests_is_noted_without_breaking_trust() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let doubt = doubt(&summary, Reason::TooFewSamples);
    assert!(
        !doubt.breaks_trust && doubt.message.contains("p99 needs 1000"),
        "{doubt:?}"
    );
    assert_eq!(
        doubt.remedy, "raise spec.sweeps.warmLatency.requests, or do not use this percentile",
        "the field of the sweep that it is about, and no other"
    );
    assert!(matches!(trust(&summary), Trust::Yes(notes) if notes.contains("TooFewSamples")));
}

#[test]
fn ratios_are_taken_at_the_knee_of_the_baseline() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let hello = |metric| {
        summary
            .comparisons
            .iter()
            .find(|c| c.workload == "hello" && c.metric == metric)
            .unwrap()
    };
    let knee = Point::Throughput { connections: 50 };
    assert_eq!(hello(Metric::ThroughputRps).point, knee);
    assert_eq!(hello(Metric::CpuPerRequest).point, knee);
    assert_eq!(hello(Metric::WarmP50).point, Point::WarmLatency);
    assert_eq!(hello(Metric::Memory).estimate.blocks, 5);
    let per_block = &hello(Metric::ThroughputRps).estimate.per_block;
    assert_eq!(per_block.len(), 5);
}

#[test]
fn status_rows_carry_five_digits_and_no_ratio_for_the_baseline() {
    let run = run();
    let rows = status_rows(&summarize(&run, &all_measured(&run)));
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter()
            .all(|row| row.versus_baseline.is_empty() == (row.variant == "native"))
    );
    let throughput = rows[0].throughput.as_ref().unwrap();
    assert_eq!(
        (throughput.at_connections, throughput.points.len()),
        (Some(50), 1)
    );
    assert_eq!(
        format!("{:.4e}", throughput.peak_rps.unwrap()).parse(),
        Ok(throughput.peak_rps.unwrap())
    );
}

#[test]
fn a_variant_compared_with_itself_is_exactly_one() {
    let mut run = run();
    run.spec.variants[1].name = "again".into();
    run.spec.workloads.truncate(1);
    let mut records = all_measured(&run);
    replace(
        &mut records,
        |_| true,
        |t, position| {
            let name = if t.cell.point == Point::WarmLatency {
                "exactly"
            } else {
                "ok"
            };
            let fortio = slower(fortio(name), f64::from(t.block));
            let mut record = record(t, position, Outcome::Measured, Some(fortio));
            let window = record.load_mut().unwrap().timed.as_mut().unwrap();
            window.subject.as_mut().unwrap().memory_bytes = 1000;
            record
        },
    );
    let summary = summarize(&run, &records);
    assert_eq!(summary.comparisons.len(), 4);
    for comparison in &summary.comparisons {
        let found = &comparison.estimate;
        assert_eq!((found.ratio, found.ends()), (1.0, Some((1.0, 1.0))));
        assert_eq!(comparison.verdict, Verdict::Equivalent);
    }
}

#[test]
fn the_twin_is_the_noise_floor_and_never_a_competitor() {
    let summary = with_twin(1.0);
    let is_twin = |name: &str| name == "baseline-twin";
    let compared: Vec<&str> = summary
        .comparisons
        .iter()
        .map(|c| c.variant.as_str())
        .collect();
    assert_eq!(compared, ["embedded"; 8]);
    assert!(!summary.verdict.contains("twin"), "{}", summary.verdict);
    let rows = status_rows(&summary);
    assert_eq!(rows.len(), 4);
    assert!(rows.iter().all(|row| !is_twin(&row.variant)));
    assert_eq!(summary.noise_floors.len(), 8);
    assert!(
        summary
            .noise_floors
            .iter()
            .all(|floor| floor.factor < Some(1.01))
    );
    assert!(summary.cells.iter().any(|cell| is_twin(&cell.variant)));
    assert_eq!(
        summary.spec.as_ref().unwrap().variants.len(),
        2,
        "as written"
    );
    assert_eq!(verdict_on(&summary, "hello"), Verdict::Slower);
}

#[test]
fn a_twin_that_differs_from_the_baseline_widens_the_noise_floor_and_withholds_no_trust() {
    let summary = with_twin(2.5);
    assert!(
        summary
            .noise_floors
            .iter()
            .any(|floor| floor.factor > Some(2.0))
    );
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
}

#[test]
fn expectations_are_decided_and_listed_in_the_report() {
    let mut run = run();
    run.spec.expectations = serde_json::from_value(json!([
        {"name": "keeps-half", "metric": "throughputRps", "variant": "embedded",
         "workload": "hello", "atLeast": "0.5"},
        {"name": "memory-doubles-at-most", "metric": "memory", "variant": "embedded",
         "workload": "hello", "atMost": "2"},
        {"name": "hair-splitting", "metric": "warmP50", "variant": "embedded",
         "workload": "compute", "atMost": "1.04"},
    ]))
    .unwrap();
    let summary = summarize(&run, &all_measured(&run));
    let outcomes: Vec<Fulfilment> = summary.expectations.iter().map(|d| d.outcome).collect();
    assert_eq!(
        outcomes,
        [Fulfilment::Met, Fulfilment::NotMet, Fulfilment::Undecided]
    );
    let report = &report_files_of(&summary).unwrap()["report.md"];
    let line = "- **NOT MET**: memory-doubles-at-most: memory of embedded on hello must be at most \
                2x the baseline's: it is 5.05x (5.05-5.05, for 3 expectations together)";
    assert!(report.contains(line), "{report}");
}

#[test]
fn a_variant_that_was_not_measured_leaves_its_expectation_undecided() {
    let mut run = run();
    run.spec.expectations = serde_json::from_value(json!([
        {"name": "gate", "metric": "memory", "variant": "embedded", "workload": "hello",
         "atMost": "9"},
    ]))
    .unwrap();
    let summary = summarize(&run, &[]);
    assert_eq!(summary.expectations[0].outcome, Fulfilment::Undecided);
    assert!(
        summary.expectations[0]
            .message
            .ends_with("it was not compared")
    );
}

#[test]
fn the_knee_is_the_smallest_load_with_nine_tenths_of_the_peak() {
    let mut run = run();
    run.spec.sweeps.throughput.as_mut().unwrap().connections = vec![10, 50, 100];
    let mut records = all_measured(&run);
    // 100 connections are less than a tenth better than 50.
    slow(&mut records, |trial| {
        let is_last = trial.cell.point == Point::Throughput { connections: 100 };
        is_last.then_some(0.95)
    });
    let summary = summarize(&run, &records);
    let rows = status_rows(&summary);
    let throughput = rows[0].throughput.as_ref().unwrap();
    assert_eq!(throughput.at_connections, Some(100));
    assert_eq!(throughput.knee.as_ref().unwrap().connections, 50);
    let loaded = |c: &&Comparison| c.metric == Metric::ThroughputRps;
    let compared: Vec<Point> = summary
        .comparisons
        .iter()
        .filter(loaded)
        .map(|c| c.point)
        .collect();
    assert_eq!(compared, [Point::Throughput { connections: 50 }; 2]);
}

#[test]
fn the_status_has_the_points_of_a_curve_that_are_compared_or_invalid() {
    let mut run = run();
    run.spec.workloads.truncate(1);
    run.spec.sweeps.throughput.as_mut().unwrap().connections = vec![10, 50, 100, 200];
    let mut records = all_measured(&run);
    let is_at = |trial: &TrialId, connections| {
        let point = Point::Throughput { connections };
        trial.cell.variant == "embedded" && trial.cell.point == point
    };
    // The baseline's knee is at 50 connections, that of the other variant at 100.
    slow(&mut records, |trial| is_at(trial, 50).then_some(2.0));
    let has_errors = |trial: &TrialId| is_at(trial, 200) && trial.block == 3;
    replace(&mut records, has_errors, |trial, position| {
        record(trial, position, Outcome::Measured, Some(fortio("errors")))
    });
    let rows = status_rows(&summarize(&run, &records));
    let points = |row: usize| -> Vec<u32> {
        let curve = rows[row].throughput.as_ref().unwrap();
        curve.points.iter().map(|point| point.connections).collect()
    };
    assert_eq!(points(0), [50]);
    assert_eq!(points(1), [50, 100, 200]);
}

/// A run in which this variant takes longer by the given factor in each block.
fn scattered(run: &RunInput, variant: &str, factors: [f64; 5]) -> Summary {
    let mut records = all_measured(run);
    slow(&mut records, |trial| {
        (trial.cell.variant == variant).then(|| factors[trial.block as usize - 1])
    });
    summarize(run, &records)
}

#[test]
fn a_single_variant_that_scatters_is_noted_although_nothing_is_compared() {
    let mut run = run();
    run.spec.variants.truncate(1);
    let summary = scattered(&run, "native", [0.6, 1.0, 0.6, 1.0, 0.6]);
    assert_eq!(summary.trustworthy, Some(true), "{:?}", summary.doubts);
    let message = doubt(&summary, Reason::HighVariance).message;
    let place = "native on hello at 50 connections (";
    assert!(message.contains(place), "{message}");
    assert!(message.contains("more than 50 blocks"), "{message}");
}

#[test]
fn trials_that_scatter_too_much_are_noted_with_the_blocks_needed() {
    let summary = scattered(&run(), "embedded", [0.6, 1.0, 0.6, 1.0, 0.6]);
    let doubt = doubt(&summary, Reason::HighVariance);
    assert!(!doubt.breaks_trust);
    assert!(
        doubt
            .message
            .contains("warm p50 latency of embedded on compute (0."),
        "{doubt:?}"
    );
    assert!(doubt.message.contains("more than 50 blocks"), "{doubt:?}");
}

#[test]
fn the_verdict_states_what_was_decided_rather_than_a_rate_that_scatters() {
    let summary = scattered(&run(), "embedded", [0.6, 1.0, 0.6, 1.0, 0.6]);
    let line = &summary.verdict;
    let decided = "embedded: 1.92x native's CPU per request on hello (";
    assert!(line.starts_with(decided), "{line}");
    let place = |word: &str| line.find(word);
    let undecided = place("undecided").unwrap_or(line.len());
    assert!(
        place("equivalent").is_some_and(|first| first < undecided),
        "{line}"
    );
}

#[test]
fn a_ratio_from_fewer_than_five_blocks_of_a_longer_run_is_not_trusted() {
    let summary = with_window(|record| {
        let is_warm = record.trial.cell.point == Point::WarmLatency;
        if !is_warm && record.trial.block <= 2 {
            let window = record.load_mut().unwrap().timed.as_mut().unwrap();
            window.subject = None;
        }
    });
    assert_eq!(summary.trustworthy, Some(false));
    let message = doubt(&summary, Reason::TooFewBlocks).message;
    let place = "fewer than 5 of the run's 5 blocks: CPU per request of embedded on hello at 50 connections \
                 (3), memory of embedded on hello at 50 connections (3)";
    assert!(message.contains(place), "{message}");
    let run = run();
    let clean = summarize(&run, &all_measured(&run));
    assert_eq!(doubt(&clean, Reason::TooFewBlocks).message, "missing");
}

#[test]
fn two_groups_of_pods_of_one_variant_are_noted_with_both_values() {
    let run = run_with(json!({
        "blocks": 10,
        "variants": [{"name": "native", "preset": "native"}],
        "workloads": [{"name": "hello"}],
        "sweeps": {"throughput": {"connections": [50]}},
    }));
    let mut records = all_measured(&run);
    for record in records.iter_mut().filter(|record| record.trial.block <= 4) {
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.subject.as_mut().unwrap().cpu_nanoseconds *= 2;
    }
    let found = doubt(&summarize(&run, &records), Reason::TwoModes);
    assert!(!found.breaks_trust, "{found:?}");
    let message = found.message;
    assert!(
        message.contains("CPU per request of native on hello at 50 connections: 6 around "),
        "{message}"
    );
    assert!(message.contains(", 4 around "), "{message}");
}
