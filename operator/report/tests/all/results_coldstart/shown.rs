//! Points and trials that do not count: what the terminal and the plots show of them.

use wasmbench_controller::status::Conclusion;
use wasmbench_model::wire::record::{Outcome, Record};
use wasmbench_report::files::report_files;
use wasmbench_report::html::report_html;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{hare, hares_ratio, shown, summary_of};
use crate::results_support::cold_starts::{hares, input, records};

/// Trials of `hare` with one pod at once.
fn trials_of_hare(records: &mut [Record]) -> impl Iterator<Item = &mut Record> {
    let is_hare = |record: &&mut Record| record.trial.cell.variant == "hare";
    let hares = records.iter_mut().filter(is_hare);
    hares.filter(|record| record.trial.cell.point.to_string().ends_with("c1"))
}

#[test]
fn an_invalid_point_has_its_reason_and_is_crossed_in_the_plots() {
    let mut all = records();
    hares(&mut all).next().unwrap().samples[3].wrong_class = true;
    let summary = summary_of(&all);
    let text = shown(&summary);
    let mut lines = text.lines();
    let hare = lines.find(|line| line.starts_with("hare ")).unwrap();
    assert!(hare.ends_with("CacheClassViolated"), "{text}");
    assert!(
        !hare.contains(" ms"),
        "no number of what is invalid: {text}"
    );
    assert_eq!(text.matches("CacheClassViolated").count(), 1, "{text}");
    assert!(!shown(&summary_of(&records())).contains("INVALID"));

    let html = report_html(&summary, usize::MAX);
    // In two plots, the four blocks that are left.
    let crossed = "median of its pods, point invalid: CacheClassViolated: ";
    assert_eq!(html.matches(crossed).count(), 2 * 4);
    assert_eq!(html.matches(">invalid</text>").count(), 2);
}

#[test]
fn a_p90_of_fewer_than_100_pods_is_marked_in_terminal_and_report() {
    let p90s = |pods: usize| {
        let mut all = records();
        for document in hares(&mut all) {
            let sample = document.samples[1].clone();
            document.samples.truncate(2);
            // Five blocks.
            document.samples.resize(1 + pods / 5, sample);
        }
        let text = shown(&summary_of(&all));
        let mut lines = text.lines();
        let hare = lines.find(|line| line.starts_with("hare ")).unwrap();
        hare.matches('~').count()
    };
    assert_eq!((p90s(95), p90s(100)), (2, 0));
}

#[test]
fn numbers_of_only_invalid_trials_are_kept_but_not_in_any_table() {
    let mut all = records();
    for document in hares(&mut all) {
        document.samples[3].wrong_class = true;
    }
    let summary = summary_of(&all);
    let cell = hare(&summary);
    assert_eq!((cell.counts.valid, cell.counts.invalid), (0, 5));
    assert_eq!((cell.detail.pods, cell.detail.wrong_class_trials), (10, 5));
    let time = cell.detail.create_to_listening.as_ref().unwrap();
    assert!(time.p50_microseconds.median > 400_000.0, "{time:?}");
    // Kept, but not ranked.
    assert!(!cell.ranked);
    assert_eq!(hares_ratio(&summary, Metric::ColdStartListening), None);
    assert_eq!(cell.invalid_because, [Reason::CacheClassViolated]);
    let verdict = &summary.verdict;
    let only_four = verdict.contains("(4 pods at once)") && !verdict.contains("; ");
    assert!(only_four, "{verdict}");

    let rows = Conclusion::from_summary(&summary, vec![]).rows;
    let point = rows.iter().find(|row| row.variant == "hare").unwrap();
    let point = &point.cold_start[0];
    assert_eq!(
        (point.trials, point.failed_trials, point.samples),
        (0, 5, 10)
    );
    assert!(point.listening.is_some());
    let report = &report_files(&input(), &all).unwrap()["report.md"];
    let mut rows = report.lines();
    let row = rows
        .find(|row| row.starts_with("| hare ") && row.contains(" 0/5 "))
        .unwrap();
    assert!(
        !row.contains(" ms |") && row.contains("INVALID: CacheClassViolated"),
        "{row}"
    );

    let html = report_html(&summary, usize::MAX);
    let crossed = "median of its pods, point invalid: CacheClassViolated: ";
    assert_eq!(html.matches(crossed).count(), 2 * 5);
    assert!(html.contains("hare: 5 invalid trials"), "{html}");
    assert!(!html.contains("without a measurement"));
}

#[test]
fn trials_without_a_measurement_are_counted_separately_from_invalid_ones() {
    let mut all = records();
    hares(&mut all).next().unwrap().samples[3].wrong_class = true;
    let last = trials_of_hare(&mut all).last().unwrap();
    last.outcome = Outcome::Failed {
        reason: "SubjectCrashed".into(),
        message: "the container ended".into(),
    };
    let html = report_html(&summary_of(&all), usize::MAX);
    let expected = "hare: 1 trial without a measurement, 1 invalid trial";
    assert_eq!(html.matches(expected).count(), 2);
}

#[test]
fn wrong_answers_do_not_count_as_the_wrong_class() {
    let mut all = records();
    for document in hares(&mut all) {
        document.answer.as_mut().unwrap().body_sha256 = "bb".repeat(32);
        // Taken again, so that every trial has its samples.
        let mut wrong = document.samples[1].clone();
        wrong.wrong_class = true;
        document.samples.push(wrong);
    }
    let summary = summary_of(&all);
    let cell = hare(&summary);
    assert_eq!(
        (cell.counts.invalid, cell.detail.wrong_class_samples),
        (5, 5)
    );
    assert_eq!(cell.invalid_because, [Reason::ResponseMismatch]);
}

#[test]
fn a_median_over_blocks_is_shown_with_its_interval() {
    let report = &report_files(&input(), &records()).unwrap()["report.md"];
    let mut lines = report.lines();
    let header = lines
        .find(|line| line.contains("Listening p50 ") && line.contains("Valid"))
        .unwrap();
    assert_eq!(header.matches("Interval |").count(), 2, "{header}");
    assert!(!header.contains("Range") && report.contains("with its 95 % interval"));
}
