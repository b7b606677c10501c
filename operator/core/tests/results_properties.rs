//! What holds for every run: the order of records does not matter, a summary can be read back, and
//! a report fits a `ConfigMap`.

mod results_support;

use proptest::prelude::*;
use results_support::{all_measured, failed, fortio, measured, record, run, run_with, trials};
use serde_json::json;
use wasmbench_core::results::quality::Reason;
use wasmbench_core::results::{
    Collector, RunInput, Summary, report_files, report_files_of, summarize,
};
use wasmbench_core::wire::document::DiscardedWindow;
use wasmbench_core::wire::record::{Outcome, Record};

/// What may become of a trial.
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
    prop::collection::vec(fate, 60)
}

fn records(fates: &[Fate]) -> Vec<Record> {
    let all = trials(&run())
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
        prop_assert_eq!(report_files(&run(), &one).unwrap(), report_files(&run(), &other).unwrap());
    }

    #[test]
    fn invalid_points_are_never_ranked_or_compared(fates in fates()) {
        let summary = summarize(&run(), &records(&fates));
        for cell in &summary.cells {
            let errors = cell.trials.iter().any(|trial| trial.metrics.errors > 0);
            prop_assert_eq!(errors, cell.invalid_because.contains(&Reason::ErrorsInLoad));
            prop_assert!(!(errors && cell.ranked));
            let compared = summary.comparisons.iter().any(|c| {
                (&c.variant, &c.workload, c.sweep, c.connections)
                    == (&cell.variant, &cell.workload, cell.sweep, cell.connections)
            });
            prop_assert!(cell.ranked || !compared);
        }
    }

    #[test]
    fn percentiles_of_a_point_rise(fates in fates()) {
        for cell in summarize(&run(), &records(&fates)).cells {
            let medians = [cell.p50_microseconds, cell.p90_microseconds, cell.p99_microseconds];
            let medians: Vec<f64> = medians.iter().flatten().map(|spread| spread.median).collect();
            prop_assert!(medians.is_sorted());
        }
    }

    #[test]
    fn a_summary_can_be_read_back(fates in fates()) {
        let summary = summarize(&run(), &records(&fates));
        let files = report_files_of(&summary).unwrap();
        let read: Summary = serde_json::from_str(&files["summary.json"]).unwrap();
        prop_assert_eq!(report_files_of(&read).unwrap(), files);
    }
}

#[test]
fn a_report_survives_records_that_were_stored_and_read() {
    let run = run();
    let records = all_measured(&run);
    let stored = |record| {
        wasmbench_core::store::decode(&wasmbench_core::store::encode(record).unwrap()).unwrap()
    };
    let again: Vec<Record> = records.iter().map(stored).collect();
    assert_eq!(
        report_files(&run, &records).unwrap(),
        report_files(&run, &again).unwrap()
    );
}

/// The largest legal run: 256 cells with those of the twin, almost 5000 trials, longest names, every
/// trial with a doubt.
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
        if let Some(document) = &mut one.document {
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
fn fields_that_may_change_after_creation_do_not_change_the_report() {
    let input = run();
    let mut run = wasmbench_api::BenchmarkRun::new(&input.name, input.spec.clone());
    let before = RunInput::new(&run, 42);
    run.spec.suspend = true;
    run.spec.ttl_seconds_after_finished = Some(60);
    assert_eq!(RunInput::new(&run, 42), before);
}
