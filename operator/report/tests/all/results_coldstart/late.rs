//! Starts that were not up in time: how they count, and where people read of them.

use wasmbench_controller::status::Conclusion;
use wasmbench_model::wire::cold_start::{ColdPod, ColdStep, LateStart};
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::Record;
use wasmbench_report::files::report_files;
use wasmbench_report::html::report_html;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{doubts_of, hare, hares_ratio, shown, summary_of};
use crate::results_support::cold_starts::{hares, input, records};

/// A pod that neither listened nor answered.
fn give_up(pod: &mut ColdPod) {
    for step in [ColdStep::Listening, ColdStep::FirstCorrectAnswer] {
        pod.steps.remove(&step);
    }
    pod.attempts = 0;
    pod.late = Some(LateStart {
        waited_nanoseconds: 30_000_000_000,
        failure: Failure {
            reason: FailureReason::NeverListened,
            message: "the last attempt: refused".into(),
        },
    });
}

/// The records of which the third sample of so many trials of `hare`, with one pod at once, is late.
fn with_late(trials: usize) -> Vec<Record> {
    let mut all = records();
    for document in hares(&mut all).take(trials) {
        give_up(&mut document.samples[3].pods[0]);
    }
    all
}

#[test]
fn a_late_start_is_counted_and_costs_neither_its_trial_nor_the_others() {
    let summary = summary_of(&with_late(1));
    let (cell, whole) = (hare(&summary), summary_of(&records()));
    assert_eq!(cell.counts, hare(&whole).counts);
    assert_eq!(cell.invalid_because, []);
    let late = cell.detail.late.as_ref().expect("a late start");
    assert_eq!((late.starts, late.samples, cell.detail.pods), (1, 1, 15));
    assert_eq!(hare(&whole).detail.late, None);
    let message = "cold starts of hare on greet (1 of 15 starts took longer than 30 s)";
    assert_eq!(doubts_of(&summary, Reason::LateStarts), [(false, message)]);
    assert_eq!(summary.trustworthy, Some(true));
    assert!(hares_ratio(&summary, Metric::ColdStartListening).is_some());
}

#[test]
fn a_late_start_counts_as_longer_than_any_other() {
    let summary = summary_of(&with_late(1));
    let medians = |trials: usize| {
        let summary = summary_of(&with_late(trials));
        let first = &hare(&summary).detail.blocks[0];
        (first.listening, first.answer)
    };
    // Without it, the median of three is the second; of two and a longer one, it is the longer of
    // the two. The samples are a millisecond apart, and the last is the longest.
    assert_eq!(medians(1), medians(0));
    let mut all = records();
    let first = hares(&mut all).next().unwrap();
    give_up(&mut first.samples[1].pods[0]);
    let (other, whole) = (summary_of(&all), summary_of(&records()));
    let median = |summary| hare(summary).detail.blocks[0].answer.unwrap();
    assert!((median(&other) - median(&whole) - 1000.0).abs() < 2.0);
    // A tenth of 15 pods are 2.
    let p90 = |summary| {
        hare(summary)
            .detail
            .create_to_answer
            .clone()
            .unwrap()
            .p90_microseconds
    };
    assert!(p90(&summary).is_some());
    assert_eq!(p90(&summary_of(&with_late(2))), None);
}

#[test]
fn a_late_pod_that_listened_is_only_late_with_its_answer() {
    let mut all = with_late(2);
    for document in hares(&mut all).take(2) {
        let (observed, late) = (
            document.samples[2].pods[0].clone(),
            &mut document.samples[3].pods[0],
        );
        let listening = observed.steps[&ColdStep::Listening];
        late.steps.insert(ColdStep::Listening, listening);
    }
    let summary = summary_of(&all);
    let detail = &hare(&summary).detail;
    let p90 = |time: &Option<_>| {
        let time: &wasmbench_results::cells::coldstart::ColdTime = time.as_ref().unwrap();
        time.p90_microseconds
    };
    assert!(p90(&detail.create_to_listening).is_some());
    assert_eq!(p90(&detail.create_to_answer), None);
    assert_eq!(detail.late.as_ref().unwrap().starts, 2);
}

#[test]
fn a_median_that_late_starts_would_decide_is_absent() {
    let mut all = records();
    for document in hares(&mut all) {
        for sample in &mut document.samples[2..] {
            give_up(&mut sample.pods[0]);
        }
    }
    let summary = summary_of(&all);
    let detail = &hare(&summary).detail;
    assert_eq!(detail.late.as_ref().unwrap().starts, 10);
    assert_eq!(
        (&detail.create_to_listening, &detail.create_to_answer),
        (&None, &None)
    );
    assert_eq!(hares_ratio(&summary, Metric::ColdStartAnswer), None);
}

#[test]
fn late_starts_are_shown_only_where_there_are_any() {
    let summary = summary_of(&with_late(2));
    let text = shown(&summary);
    let row = |text: &str| {
        let mut lines = text.lines();
        let found = lines.find(|line| line.starts_with("hare ") || line.starts_with("| hare "));
        found.unwrap_or_else(|| panic!("no row: {text}")).to_owned()
    };
    assert!(
        text.contains("LATE") && row(&text).contains("2 of 15 over 30 s"),
        "{text}"
    );
    assert!(row(&text).contains("~over 30 s"), "the p90: {text}");
    let report = &report_files(&input(), &with_late(2)).unwrap()["report.md"];
    let mut lines = report.lines();
    let line = lines.find(|line| line.starts_with("- hare") && line.contains("took longer"));
    assert_eq!(
        line.unwrap(),
        "- hare on greet: 2 of 15 starts took longer than 30 s, and count as longer than all others. \
         Answers in time: min 487 ms, p25 493 ms, p50 499 ms, p75 504 ms, p90 508 ms, max 509 ms. \
         Seen of a late one: the last attempt: refused"
    );
    assert!(report.contains("2 of 15 over 30 s"), "{report}");
    let html = report_html(&summary, usize::MAX);
    assert!(html.contains("2 of 15 over 30 s"), "{html}");

    let whole = summary_of(&records());
    let files = report_files(&input(), &records()).unwrap();
    assert!(!shown(&whole).contains("LATE"));
    assert!(!files["report.md"].contains(" Late |") && !files["summary.json"].contains("late\""));
    let point = &Conclusion::from_summary(&whole, vec![]).rows[0].cold_start[0];
    assert_eq!(point.late, None);
}

#[test]
fn the_noise_of_late_samples_is_neither_judged_nor_missing() {
    let unknown = |records: &[Record]| {
        let summary = summary_of(records);
        let found = doubts_of(&summary, Reason::NoiseUnknown);
        found
            .iter()
            .map(|(_, message)| (*message).to_owned())
            .collect::<Vec<_>>()
    };
    assert!(unknown(&records())[0].contains("(15 of 15 samples)"));
    let message = &unknown(&with_late(1))[0];
    assert!(message.contains("(14 of 15 samples)"), "{message}");
}
