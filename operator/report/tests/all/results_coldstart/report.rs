//! What people see of cold starts: every file, the terminal, the plots.

use proptest::prelude::*;
use wasmbench_controller::status::Conclusion;
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::record::Outcome;
use wasmbench_report::files::report_files;
use wasmbench_results::summary::collect::RunInput;

use super::support::{shown, summary_of};
use crate::results_support::cold_starts::{input, records, run};

#[test]
fn the_whole_report_of_a_cold_start_run() {
    let files = report_files(&input(), &records()).unwrap();
    insta::assert_snapshot!("cold-start-report", files["report.md"]);
    insta::assert_snapshot!("cold-start-summary", files["summary.json"]);
    insta::assert_snapshot!("cold-start-terminal", shown(&summary_of(&records())));
}

#[test]
fn discarded_samples_are_shown_and_never_count() {
    let summary = summary_of(&records());
    let cell = &summary.cold_starts[0];
    assert_eq!((cell.detail.pods, cell.counts.valid), (15, 5));
    let block = &cell.detail.blocks[0];
    assert!(block.listening.unwrap() < 310_000.0, "{block:?}");
    assert!(block.discarded_listening.unwrap() > 800_000.0, "{block:?}");
}

#[test]
fn the_harness_floor_is_shown_in_report_status_and_terminal() {
    let summary = summary_of(&records());
    let points: Vec<(u32, u32, u32)> = summary
        .harness_floors
        .iter()
        .map(|floor| (floor.concurrency, floor.blocks, floor.pods))
        .collect();
    assert_eq!(points, [(1, 5, 5), (4, 5, 20)]);
    let listening = summary.harness_floors[0].listening_microseconds.unwrap();
    assert!((listening.median - 150_000.0).abs() < 1.0, "{listening:?}");
    let status = Conclusion::from_summary(&summary, vec![]).harness_floor;
    let answer = status[1].answer.as_ref().unwrap().p50_microseconds;
    assert!((answer - 160_500.0).abs() < 100.0, "{answer}");
    assert!(shown(&summary).contains("harness floor"));
    let numbers = [
        summary.cold_starts[0].detail.pods,
        summary.cold_starts[1].detail.pods,
    ];
    assert_eq!(numbers, [15, 60], "floor pods are in no other number");
}

#[test]
fn the_makespan_of_pods_at_once_ends_with_the_last_of_them() {
    let summary = summary_of(&records());
    let four = &summary.cold_starts[1];
    assert_eq!(four.detail.concurrency, 4);
    let makespan = four.detail.makespan_microseconds.unwrap().median;
    let median = four
        .detail
        .create_to_answer
        .as_ref()
        .unwrap()
        .p50_microseconds
        .median;
    assert!(
        (makespan - median - 30_000.0).abs() < 1_000.0,
        "{makespan} {median}"
    );
    assert!(
        summary.cold_starts[0]
            .detail
            .makespan_microseconds
            .is_none()
    );
}

#[test]
fn a_step_without_evidence_is_absent_and_the_others_stay() {
    let mut records = records();
    for record in &mut records {
        let document = record.cold_start_mut().unwrap();
        let samples = document.samples.iter_mut().chain(&mut document.floor);
        for pod in samples.flat_map(|sample| &mut sample.pods) {
            pod.steps.remove(&ColdStep::Listening);
        }
    }
    let summary = summary_of(&records);
    assert_eq!(summary.cold_starts.len(), 4);
    for cell in &summary.cold_starts {
        assert!(
            cell.detail.create_to_listening.is_none(),
            "{}",
            cell.place()
        );
    }
    assert!(
        summary.verdict.contains("cold start to first answer"),
        "{}",
        summary.verdict
    );
    assert!(
        !shown(&summary).contains("LISTENING"),
        "{}",
        shown(&summary)
    );
}

#[test]
fn failed_and_missing_trials_are_doubted_and_counted() {
    let mut records = records();
    records[0].outcome = Outcome::Failed {
        reason: "SubjectCrashed".into(),
        message: "the container ended".into(),
    };
    records.pop();
    let summary = summary_of(&records);
    let counts = summary.trials;
    assert_eq!(
        (counts.valid, counts.failed, counts.missing, counts.planned),
        (18, 1, 1, 20)
    );
    assert_eq!(summary.trustworthy, Some(false));
    let rows = Conclusion::from_summary(&summary, vec![]).rows;
    assert_eq!(rows[0].cold_start[0].failed_trials, 1);
}

#[test]
fn a_run_without_cold_starts_does_not_mention_them() {
    let mut run = run();
    run.spec.sweeps = serde_yaml::from_str("warmLatency: {}").unwrap();
    let files = report_files(&RunInput::new(&run, 7), &records()).unwrap();
    assert!(!files["report.md"].contains("Cold start"));
    assert!(!files["summary.json"].contains("coldStarts"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]
    #[test]
    fn the_order_of_records_does_not_matter(shuffled in Just(records()).prop_shuffle()) {
        let expected = report_files(&input(), &records()).unwrap();
        prop_assert_eq!(report_files(&input(), &shuffled).unwrap(), expected);
    }
}

/// To look at the plots: `WRITE_HTML=/tmp/cold.html cargo test -p wasmbench-report --test all
/// results_coldstart::`.
#[test]
fn every_block_is_a_point_in_plots_and_discarded_samples_are_crossed() {
    let html = &report_files(&input(), &records()).unwrap()["report.html"];
    if let Ok(path) = std::env::var("WRITE_HTML") {
        std::fs::write(path, html).unwrap();
    }
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..roxmltree::ParsingOptions::default()
    };
    roxmltree::Document::parse_with_options(html, options).unwrap();
    // Two plots, two variants, two numbers of pods at once, five blocks.
    assert_eq!(html.matches("median of its pods: ").count(), 2 * 2 * 2 * 5);
    assert_eq!(
        html.matches("the first sample, discarded: ").count(),
        2 * 2 * 2 * 5
    );
    assert!(
        html.contains("hare x4, listening: "),
        "the steps name their clocks"
    );
}
