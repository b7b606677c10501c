//! Loads on a schedule, from records to what people see: what is invalid, what is compared, and where
//! the numbers appear.

use serde_json::{Value, json};
use wasmbench_controller::status::rows;
use wasmbench_model::wire::open_loop::{OpenLoopWindow, Rate};
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
        "sweeps": {"openLoop": {"rates": [500, 200]}},
        "expectations": [
            {"name": "tail", "metric": "openLoopP99", "variant": "embedded", "workload": "hello",
             "atMost": "3"},
        ],
    }))
}

/// A point of the run.
const fn at(rps: u32) -> Point {
    let rate = Rate::Rps(rps);
    Point::OpenLoop { rate }
}

fn change(records: &mut [Record], place: (&str, u32), change: impl Fn(&mut OpenLoopWindow)) {
    let (variant, rps) = place;
    let point = at(rps);
    let mine = |record: &&mut Record| {
        record.trial.cell.variant == variant && record.trial.cell.point == point
    };
    for record in records.iter_mut().filter(mine) {
        let document = record.load_mut().unwrap();
        change(document.timed.as_mut().unwrap().open_loop.as_mut().unwrap());
    }
}

fn cell<'a>(summary: &'a Summary, variant: &str, rps: u32) -> &'a LoadCell {
    summary
        .cells
        .iter()
        .find(|cell| cell.variant == variant && cell.detail.rate == Some(Rate::Rps(rps)))
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
    let cell = cell(&summary, "native", 500);
    assert!(cell.ranked, "{:?}", cell.invalid_because);
    let service = cell.detail.p99_microseconds.unwrap().median;
    let scheduled = cell.detail.open_loop.unwrap().p99_microseconds.median;
    assert!(
        (scheduled / service - 3.0).abs() < 0.01,
        "{scheduled} {service}"
    );
}

#[test]
fn all_variants_have_the_same_rate_whether_it_was_stated_or_is_a_share_of_the_baselines_peak() {
    let stated = run();
    let mut shares = run();
    shares.spec.sweeps.open_loop =
        serde_json::from_value(json!({"ratesPercentOfPeak": [90, 50]})).unwrap();
    // The baseline's peak is 20,000 requests per second, whatever the other variant could do.
    for (run, expected) in [(stated, [200.0, 500.0]), (shares, [10_000.0, 18_000.0])] {
        let summary = summarize(&run, &all_measured(&run));
        for variant in ["native", "embedded"] {
            let cells = summary.cells.iter().filter(|cell| cell.variant == variant);
            let rates: Vec<f64> = cells
                .map(|cell| cell.detail.open_loop.unwrap().requested_rps.median)
                .collect();
            assert_eq!(rates, expected, "{variant}");
        }
    }
}

#[test]
fn a_cell_names_its_rate_as_it_was_stated_and_reads_back() {
    let mut shares = run();
    shares.spec.sweeps.open_loop =
        serde_json::from_value(json!({"ratesPercentOfPeak": [50]})).unwrap();
    for (run, field, number) in [(run(), "requestedRps", 200), (shares, "percentOfPeak", 50)] {
        let summary = summarize(&run, &all_measured(&run));
        let cell = serde_json::to_value(&summary.cells[0]).unwrap();
        assert_eq!(cell[field], json!(number), "{cell}");
        let other = ["requestedRps", "percentOfPeak"]
            .into_iter()
            .find(|other| *other != field);
        assert!(cell.get(other.unwrap()).is_none(), "{cell}");
        let read: LoadCell = serde_json::from_value(cell).unwrap();
        assert_eq!(read.detail.rate, summary.cells[0].detail.rate);
    }
}

#[test]
fn times_of_single_requests_are_exact_whatever_buckets_the_histogram_has() {
    let run = run();
    let mut records = all_measured(&run);
    for record in &mut records {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        let histogram = &mut timed.fortio["DurationHistogram"];
        let (count, max) = (histogram["Count"].clone(), histogram["Max"].clone());
        histogram["Data"] = json!([{"Start": 0.0, "End": max, "Percent": 100.0, "Count": count}]);
    }
    let summary = summarize(&run, &records);
    let cell = cell(&summary, "native", 500);
    assert_eq!(cell.invalid_because, []);
    // The median block is 4 % slower than the fastest, which takes 125 us.
    let median = cell.detail.p50_microseconds.unwrap().median;
    assert!((median - 130.0).abs() < 1e-9, "{median}");
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
    assert_eq!(
        found,
        [
            (Metric::OpenLoopP50, at(200)),
            (Metric::OpenLoopP50, at(500)),
            (Metric::OpenLoopP99, at(200)),
            (Metric::OpenLoopP99, at(500)),
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
            .contains("p99 from the schedule at 500 requests/s"),
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
            && record.trial.cell.point == at(500)
    };
    let record = records.iter_mut().find(mine).unwrap();
    let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
    timed.open_loop.as_mut().unwrap().achieved_share = 0.9799;
    let summary = summarize(&run, &records);
    assert_eq!(
        cell(&summary, "embedded", 500).invalid_because,
        [Reason::RateNotAchieved]
    );
    assert!(cell(&summary, "embedded", 200).ranked);
    let at_500 = |c: &&Comparison| c.point == at(500);
    assert_eq!(summary.comparisons.iter().filter(at_500).count(), 0);
    assert_eq!(summary.trustworthy, Some(true), "what stands is sound");
    assert_eq!(summary.expectations[0].outcome, Fulfilment::Undecided);
    let report = markdown::report_md(&summary, usize::MAX);
    assert!(report.contains("INVALID: RateNotAchieved"), "{report}");
    assert!(report.contains("97.9 %"), "{report}");
}

#[test]
fn a_trial_at_a_rate_is_named_and_read_back() {
    let share = Rate::PercentOfPeak(70);
    for (name, rate) in [
        ("native/hello/open-p70/b3", share),
        ("native/hello/open-r70/b3", Rate::Rps(70)),
    ] {
        let trial: TrialId = name.parse().unwrap();
        assert_eq!(trial.cell.point, Point::OpenLoop { rate });
        assert_eq!(trial.to_string(), name);
    }
}

#[test]
fn a_rate_that_is_just_achieved_is_not_doubted() {
    let run = run();
    let mut records = all_measured(&run);
    change(&mut records, ("embedded", 500), |window| {
        window.achieved_share = 0.98;
    });
    assert!(!reasons(&summarize(&run, &records)).contains(&Reason::RateNotAchieved));
}

#[test]
fn a_generator_later_than_the_latency_is_a_note_not_a_doubt() {
    let run = run();
    let mut records = all_measured(&run);
    change(&mut records, ("native", 200), |window| {
        window.generator_delay = quantiles(4.0);
    });
    let summary = summarize(&run, &records);
    let late = |doubt: &&wasmbench_results::vocabulary::doubt::Doubt| {
        doubt.reason == Reason::LoadGeneratorLate
    };
    let doubt = summary.doubts.iter().find(late).unwrap();
    assert!(!doubt.breaks_trust);
    assert!(doubt.message.contains("native on hello at 200 requests/s"));
    assert!(cell(&summary, "native", 200).ranked);
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
    let points = embedded.open_loop.iter();
    let rates: Vec<(Option<u32>, f64)> = points
        .map(|point| (point.percent_of_peak, point.requested_rps))
        .collect();
    assert_eq!(rates, [(None, 200.0), (None, 500.0)]);
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
        " 200 |",
        "| p99 from the schedule at 500 requests/s\\* | embedded",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let page = html::report_html(&summary, usize::MAX);
    assert!(page.contains("Latency p99 from the schedule"));
    assert!(page.contains("requests per second"));
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
