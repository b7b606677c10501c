//! Loads on a schedule, from records to what people see: what is invalid, what is compared, and where
//! the numbers appear.

use serde_json::{Value, json};
use wasmbench_controller::status::rows;
use wasmbench_model::wire::open_loop::OpenLoopWindow;
use wasmbench_model::wire::record::{Point, Record, TrialId};
use wasmbench_report::{html, markdown};
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::expectations::Fulfilment;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::{Metric, Sweep};

use crate::results_support::{all_measured, quantiles, run_with};

fn run() -> RunInput {
    run_with(json!({
        "blocks": 5,
        "noiseFloor": false,
        "variants": [
            {"name": "native", "preset": "native"},
            {"name": "embedded", "preset": "wasmtime-embedded"},
        ],
        "workloads": [{"name": "hello"}],
        "sweeps": {"openLoop": {"ratesPercentOfPeak": [90, 50]}},
        "expectations": [
            {"name": "tail", "metric": "openLoopP99", "variant": "embedded", "workload": "hello",
             "atMost": "3"},
        ],
    }))
}

fn change(records: &mut [Record], place: (&str, u32), change: impl Fn(&mut OpenLoopWindow)) {
    let (variant, percent) = place;
    let point = Point::OpenLoop {
        percent_of_peak: percent,
    };
    let mine = |record: &&mut Record| {
        record.trial.cell.variant == variant && record.trial.cell.point == point
    };
    for record in records.iter_mut().filter(mine) {
        let document = record.load_mut().unwrap();
        change(document.timed.as_mut().unwrap().open_loop.as_mut().unwrap());
    }
}

fn cell<'a>(summary: &'a Summary, variant: &str, percent: u32) -> &'a LoadCell {
    summary
        .cells
        .iter()
        .find(|cell| cell.variant == variant && cell.detail.percent_of_peak == Some(percent))
        .unwrap()
}

fn reasons(summary: &Summary) -> Vec<Reason> {
    summary.doubts.iter().map(|doubt| doubt.reason).collect()
}

#[test]
fn points_have_service_times_and_latencies_from_the_schedule_side_by_side() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    assert!(
        summary
            .cells
            .iter()
            .all(|cell| cell.detail.sweep == Sweep::OpenLoop)
    );
    let cell = cell(&summary, "native", 90);
    assert!(cell.ranked, "{:?}", cell.invalid_because);
    let service = cell.detail.p99_microseconds.unwrap().median;
    let scheduled = cell.detail.open_loop.unwrap().p99_microseconds.median;
    assert!(
        (scheduled / service - 3.0).abs() < 0.01,
        "{scheduled} {service}"
    );
    let found = cell.detail.open_loop.unwrap();
    let share = found.requested_rps.median / found.peak_rps.median;
    assert!((share - 0.9).abs() < 1e-4, "{share}");
}

#[test]
fn every_rate_is_compared_by_p50_and_p99_in_one_family_per_run() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let found: Vec<(Metric, Point)> = summary
        .comparisons
        .iter()
        .map(|c| (c.metric, c.point))
        .collect();
    let at = |percent_of_peak| Point::OpenLoop { percent_of_peak };
    assert_eq!(
        found,
        [
            (Metric::OpenLoopP50, at(50)),
            (Metric::OpenLoopP50, at(90)),
            (Metric::OpenLoopP99, at(50)),
            (Metric::OpenLoopP99, at(90)),
        ]
    );
    for comparison in &summary.comparisons {
        assert_eq!(comparison.verdict, Verdict::Slower);
        assert!(
            (comparison.estimate.ratio - 1.9).abs() < 0.1,
            "{comparison:?}"
        );
        assert!(comparison.adjusted_p_value >= comparison.p_value);
    }
    assert_eq!(summary.expectations[0].outcome, Fulfilment::Met);
    assert!(
        summary
            .verdict
            .contains("p99 from the schedule at 90 % of the peak"),
        "{}",
        summary.verdict
    );
}

#[test]
fn one_trial_below_98_percent_invalidates_its_point_and_no_other() {
    let run = run();
    let mut records = all_measured(&run);
    let mine = |record: &&mut Record| {
        record.trial.block == 3
            && record.trial.cell.variant == "embedded"
            && record.trial.cell.point
                == Point::OpenLoop {
                    percent_of_peak: 90,
                }
    };
    let record = records.iter_mut().find(mine).unwrap();
    let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
    timed.open_loop.as_mut().unwrap().achieved_share = 0.9799;
    let summary = summarize(&run, &records);
    assert_eq!(
        cell(&summary, "embedded", 90).invalid_because,
        [Reason::RateNotAchieved]
    );
    assert!(cell(&summary, "embedded", 50).ranked);
    let highest = Point::OpenLoop {
        percent_of_peak: 90,
    };
    let at_90 = |c: &&Comparison| c.point == highest;
    assert_eq!(summary.comparisons.iter().filter(at_90).count(), 0);
    assert_eq!(summary.trustworthy, Some(true), "what stands is sound");
    assert_eq!(summary.expectations[0].outcome, Fulfilment::Undecided);
    let report = markdown::report_md(&summary, usize::MAX);
    assert!(report.contains("INVALID: RateNotAchieved"), "{report}");
    assert!(report.contains("97.9 %"), "{report}");
}

#[test]
fn a_trial_at_a_rate_is_named_and_read_back() {
    let trial: TrialId = "native/hello/open-p70/b3".parse().unwrap();
    assert_eq!(
        trial.cell.point,
        Point::OpenLoop {
            percent_of_peak: 70
        }
    );
    assert_eq!(trial.to_string(), "native/hello/open-p70/b3");
}

#[test]
fn a_rate_that_is_just_achieved_is_not_doubted() {
    let run = run();
    let mut records = all_measured(&run);
    change(&mut records, ("embedded", 90), |window| {
        window.achieved_share = 0.98;
    });
    assert!(!reasons(&summarize(&run, &records)).contains(&Reason::RateNotAchieved));
}

#[test]
fn a_generator_later_than_the_latency_is_a_note_not_a_doubt() {
    let run = run();
    let mut records = all_measured(&run);
    change(&mut records, ("native", 50), |window| {
        window.generator_delay = quantiles(4.0);
    });
    let summary = summarize(&run, &records);
    let late = |doubt: &&wasmbench_results::vocabulary::doubt::Doubt| {
        doubt.reason == Reason::LoadGeneratorLate
    };
    let doubt = summary.doubts.iter().find(late).unwrap();
    assert!(!doubt.breaks_trust);
    assert!(
        doubt
            .message
            .contains("native on hello at 50 % of its peak")
    );
    assert!(cell(&summary, "native", 50).ranked);
}

#[test]
fn a_p99_of_too_few_requests_is_not_compared() {
    let run = run();
    let mut records = all_measured(&run);
    for record in &mut records {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        timed.fortio["RetCodes"] = json!({"200": 500});
        let bucket = json!({"Start": 0.000_25, "End": 0.000_26, "Count": 500});
        let histogram = &mut timed.fortio["DurationHistogram"];
        (histogram["Count"], histogram["Data"]) = (json!(500), json!([bucket]));
    }
    let summary = summarize(&run, &records);
    let has = |metric| {
        let mut found = summary.comparisons.iter();
        found.any(|c: &Comparison| c.metric == metric)
    };
    assert!(has(Metric::OpenLoopP50) && !has(Metric::OpenLoopP99));
}

#[test]
fn the_status_has_one_small_entry_per_rate_and_no_ratio_twice() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let rows = rows::status_rows(&summary);
    let embedded = rows.iter().find(|row| row.variant == "embedded").unwrap();
    assert!(
        embedded.versus_baseline.is_empty(),
        "they stand at the points"
    );
    let percents: Vec<u32> = embedded
        .open_loop
        .iter()
        .map(|p| p.percent_of_peak)
        .collect();
    assert_eq!(percents, [50, 90]);
    let point = &embedded.open_loop[1];
    let judged = point.judged.as_ref().unwrap();
    assert_eq!((judged.verdict.as_str(), judged.blocks), ("Slower", 5));
    assert!((point.achieved_percent - 99.9).abs() < 1e-9);
    let bytes = serde_json::to_string(point).unwrap().len();
    assert!(bytes < 340, "{bytes}");
}

#[test]
fn the_report_has_a_section_with_both_latencies_and_the_pages_have_plots() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let report = markdown::report_md(&summary, usize::MAX);
    for part in [
        "## Open loop",
        "From schedule p50",
        "Generator late",
        "50 % |",
        "| p99 from the schedule at 90 % of the peak\\* | embedded",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let page = html::report_html(&summary, usize::MAX);
    assert!(page.contains("Latency p99 from the schedule"));
    assert!(page.contains("percent of each variant"));
    assert!(
        page.contains("Generator late"),
        "the numbers stand below the plots"
    );
}

#[test]
fn a_summary_reads_back_with_every_trial() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let text = serde_json::to_string(&summary).unwrap();
    let read: Summary = serde_json::from_str(&text).unwrap();
    let times = |summary: &Summary| -> Vec<Value> {
        let trials = summary.cells.iter().flat_map(|cell| &cell.detail.trials);
        trials
            .map(|trial| serde_json::to_value(trial.metrics.open_loop).unwrap())
            .collect()
    };
    assert_eq!(times(&read), times(&summary));
    assert_eq!(times(&read).len(), 20);
    assert!(times(&read).iter().all(|trial| !trial.is_null()));
}
