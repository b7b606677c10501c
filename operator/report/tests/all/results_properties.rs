//! Properties of every run: the order of records does not matter, a summary can be read back, and a
//! report fits into a `ConfigMap`.

use proptest::prelude::*;
use serde_json::json;
use wasmbench_model::store::{decode, encode};
use wasmbench_model::wire::document::DiscardedWindow;
use wasmbench_model::wire::open_loop::{Quantiles, Rate};
use wasmbench_model::wire::record::{Outcome, Point, Record};
use wasmbench_report::files::{report_files, report_files_of};
use wasmbench_results::read::trial::TrialState;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{Collector, RunInput, summarize};
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Sweep;

use crate::results_support::{
    all_measured, failed, fortio, measured, record, run, run_with, trials,
};

/// The possible fates of a trial.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Measured,
    Errors,
    Failed,
    Missing,
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = prop_oneof![
        6 => Just(Fate::Measured),
        1 => Just(Fate::Errors),
        1 => Just(Fate::Failed),
        1 => Just(Fate::Missing),
    ];
    prop::collection::vec(fate, 100)
}

/// All loads: warm latency, two numbers of connections, two rates of the open loop.
fn loads() -> RunInput {
    let mut run = run();
    run.spec.sweeps.open_loop =
        serde_json::from_value(json!({"ratesPercentOfPeak": [50, 90]})).expect("a sweep");
    run
}

fn records(fates: &[Fate]) -> Vec<Record> {
    let all = trials(&loads())
        .into_iter()
        .zip(0..)
        .zip(fates.iter().copied());
    let one = |((trial, position), fate)| match fate {
        Fate::Measured => Some(measured(trial, position)),
        Fate::Errors => Some(record(
            trial,
            position,
            Outcome::Measured,
            Some(fortio("errors")),
        )),
        Fate::Failed => Some(record(trial, position, failed("SubjectLost", "gone"), None)),
        Fate::Missing => None,
    };
    all.filter_map(one).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_order_of_records_does_not_change_the_report(
        (one, other) in fates().prop_map(|fates| records(&fates))
            .prop_flat_map(|records| (Just(records.clone()), Just(records).prop_shuffle()))
    ) {
        prop_assert_eq!(report_files(&loads(), &one).unwrap(), report_files(&loads(), &other).unwrap());
    }

    #[test]
    fn invalid_points_are_never_ranked_or_compared(fates in fates()) {
        let summary = summarize(&loads(), &records(&fates));
        prop_assert!(!summary.cells.is_empty());
        for cell in &summary.cells {
            let errors = cell.detail.trials.iter().any(|trial| trial.metrics.errors > 0);
            prop_assert_eq!(errors, cell.invalid_because.contains(&Reason::ErrorsInLoad));
            prop_assert!(!(errors && cell.ranked));
            let compared = summary.comparisons.iter().any(|c| {
                (&c.variant, &c.workload, c.point) == (&cell.variant, &cell.workload, cell.point())
            });
            prop_assert!(cell.ranked || !compared);
        }
    }

    #[test]
    fn percentiles_of_a_point_rise(fates in fates()) {
        let summary = summarize(&loads(), &records(&fates));
        prop_assert!(!summary.cells.is_empty());
        let (mut points, mut rates) = (0, 0);
        for cell in summary.cells {
            let medians: Vec<f64> = [cell.detail.p50_microseconds, cell.detail.p90_microseconds, cell.detail.p99_microseconds].iter().flatten().map(|spread| spread.median).collect();
            prop_assert!(medians.is_sorted());
            points += usize::from(medians.len() > 1);
            let Some(found) = cell.detail.open_loop else { continue };
            rates += 1;
            let scheduled = [found.p50_microseconds, found.p90_microseconds, found.p99_microseconds];
            prop_assert!(scheduled.map(|spread| spread.median).is_sorted());
        }
        prop_assert!(points > 0 && rates > 0, "{} points, {} rates", points, rates);
    }

    #[test]
    fn only_open_loops_report_rates(fates in fates()) {
        let summary = summarize(&loads(), &records(&fates));
        prop_assert!(!summary.cells.is_empty());
        let mut trials_at_rates = 0;
        for cell in summary.cells {
            let is_open = cell.detail.sweep == Sweep::OpenLoop;
            prop_assert_eq!(cell.detail.rate.is_some(), is_open);
            prop_assert!(is_open || cell.detail.open_loop.is_none());
            // Each of the cell's valid trials has numbers from the schedule.
            let valid = cell.detail.trials.iter().filter(|trial| trial.state == TrialState::Valid);
            prop_assert!(!is_open || valid.clone().all(|trial| trial.metrics.open_loop.is_some()));
            trials_at_rates += if is_open { valid.count() } else { 0 };
        }
        prop_assert!(trials_at_rates > 0);
    }

    #[test]
    fn a_window_on_a_schedule_survives_being_stored(
        numbers in prop::collection::vec(1u32..1_000_000_000, 11),
        rps in 1u32..=200_000, requests in any::<u64>(),
    ) {
        let mut numbers = numbers.into_iter().map(|number| f64::from(number) / 1000.0);
        let mut next = || numbers.next().unwrap();
        let mut trial = trials(&run()).remove(0);
        trial.cell.point = Point::OpenLoop { rate: Rate::Rps(rps) };
        let mut record = measured(trial, 0);
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        let window = timed.open_loop.as_mut().unwrap();
        window.requested_rps = next();
        window.achieved_share = next();
        window.waited_share = next();
        window.requests = requests;
        window.service = Quantiles {
            p50_microseconds: next(),
            p90_microseconds: next(),
            p99_microseconds: next(),
            p999_microseconds: Some(next()),
            max_microseconds: next(),
        };
        prop_assert_eq!(decode(&encode(&record).unwrap()).unwrap(), record);
    }

    #[test]
    fn a_summary_can_be_read_back(fates in fates()) {
        let summary = summarize(&loads(), &records(&fates));
        let files = report_files_of(&summary).unwrap();
        let read: Summary = serde_json::from_str(&files["summary.json"]).unwrap();
        prop_assert_eq!(report_files_of(&read).unwrap(), files);
    }
}

#[test]
fn a_report_survives_records_that_were_stored_and_read() {
    let run = loads();
    let records = all_measured(&run);
    let stored = |record| decode(&encode(record).unwrap()).unwrap();
    let again: Vec<Record> = records.iter().map(stored).collect();
    assert_eq!(
        report_files(&run, &records).unwrap(),
        report_files(&run, &again).unwrap()
    );
}

/// The largest legal run: 256 cells including those of the twin, almost 5000 trials, the longest
/// names, a doubt about every trial.
#[test]
fn the_report_of_the_largest_legal_run_fits_a_config_map() {
    let name = |kind: &str, i: usize| format!("{kind}{i:0>39}");
    let variants: Vec<_> = (0..15)
        .map(|i| json!({"name": name("v", i), "container": {"image": "i".repeat(500)}}))
        .collect();
    let path = "/".to_owned() + &"p".repeat(1000);
    let workloads: Vec<_> = (0..2)
        .map(|i| json!({"name": name("w", i), "path": path}))
        .collect();
    let run = run_with(json!({
        "blocks": 19,
        "variants": variants,
        "workloads": workloads,
        "sweeps": {
            "warmLatency": {},
            "throughput": {"connections": [1990, 1991, 1992, 1993, 1994, 1995, 1996]},
        },
    }));
    let all = trials(&run);
    assert_eq!(all.len(), 256 * 19);
    let mut collector = Collector::new(run);
    for (trial, position) in all.into_iter().zip(0..) {
        let message = format!("{}{position}", "|".repeat(600));
        let mut one = match position % 10 {
            0 => record(
                trial,
                position,
                failed("ProbeDeadlineExceeded", &message),
                None,
            ),
            1 => record(trial, position, Outcome::Measured, Some(fortio("errors"))),
            _ => measured(trial, position),
        };
        if let Some(document) = one.load_mut() {
            if let Some(timed) = &mut document.timed {
                timed.discarded = Some(DiscardedWindow {
                    rps: 123_456.0,
                    others_cpu_share: Some(0.123),
                    steal_share: Some(0.123),
                    ..DiscardedWindow::default()
                });
            }
            let odd = format!("{}{}", "<".repeat(200), position % 2);
            for fact in 0..24 {
                document
                    .environment
                    .facts
                    .insert(format!("fact{fact}"), odd.clone());
            }
        }
        collector.add(&one);
    }
    let files = report_files_of(&collector.finish()).unwrap();
    let bytes: usize = files
        .iter()
        .map(|(name, text)| name.len() + text.len())
        .sum();
    let sizes: Vec<_> = files
        .iter()
        .map(|(name, text)| (name, text.len()))
        .collect();
    assert!(bytes < 1_000_000, "{bytes} bytes: {sizes:?}");
    assert!(files["report.md"].contains("trials are left out here"));
}

#[test]
fn mutable_fields_of_the_spec_do_not_change_the_report() {
    let input = run();
    let mut run = wasmbench_api::BenchmarkRun::new(&input.name, input.spec.clone());
    let before = RunInput::new(&run, 42);
    run.spec.suspend = true;
    run.spec.ttl_seconds_after_finished = Some(60);
    assert_eq!(RunInput::new(&run, 42), before);
}
