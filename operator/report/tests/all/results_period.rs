//! When a run was measured, according to its records.

use jiff::Timestamp;
use wasmbench_model::wire::record::Record;
use wasmbench_report::files::report_files_of;
use wasmbench_results::read::period::Period;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;

use crate::results_support::{all_measured, failed, record, recorded_at, replace, run};

fn summary(change: impl Fn(&mut Vec<Record>)) -> Summary {
    let mut records = all_measured(&run());
    change(&mut records);
    summarize(&run(), &records)
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

#[test]
fn a_run_lasts_from_its_first_window_to_its_last_record() {
    let period = summary(|_| ()).period.unwrap();
    let expected = Period {
        started_at: time("2026-01-05T10:00:18Z"),
        // Sixty trials, one every half minute.
        ended_at: time("2026-01-05T10:30:00Z"),
        seconds: 29 * 60 + 42,
    };
    assert_eq!(period, expected);
}

#[test]
fn the_order_of_records_does_not_matter() {
    let sorted = summary(|_| ());
    assert_eq!(summary(|records| records.reverse()).period, sorted.period);
}

#[test]
fn a_run_without_a_window_lasts_from_its_first_record_to_its_last() {
    let period = summary(|records| {
        replace(
            records,
            |_| true,
            |trial, position| record(trial, position, failed("SubjectNotReady", "no"), None),
        );
    })
    .period
    .unwrap();
    assert_eq!(period.started_at, recorded_at(0));
    assert_eq!(period.seconds, 59 * 30);
    assert_eq!(summarize(&run(), &[]).period, None);
}

#[test]
fn a_clock_that_is_ahead_does_not_make_a_duration_negative() {
    let period = summary(|records| {
        for record in records {
            let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
            timed.start_unix_nanoseconds = 1_900_000_000_000_000_000;
        }
    })
    .period
    .unwrap();
    assert_eq!((period.started_at, period.seconds), (period.ended_at, 0));
}

#[test]
fn both_reports_show_start_end_and_duration_in_utc() {
    let files = report_files_of(&summary(|_| ())).unwrap();
    let message = "Measured from 2026-01-05 10:00:18 to 2026-01-05 10:30:00 UTC (29 min).";
    for name in ["report.md", "report.html"] {
        assert!(files[name].contains(message), "{name}");
    }
    assert!(files["summary.json"].contains("\"startedAt\": \"2026-01-05T10:00:18Z\""));
}
