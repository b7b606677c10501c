//! The far tail of a point, from the requests of all its trials.

use wasmbench_model::wire::record::{Point, TrialId};
use wasmbench_report::files::report_files_of;
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::summarize;
use wasmbench_results::vocabulary::measure::Sweep;

use super::support::is_embedded_hello;
use crate::results_support::{all_measured, fortio, measured, replace, run, slower};

fn loaded(summary: &Summary) -> &LoadCell {
    let mut cells = summary.cells.iter();
    let is_it = |cell: &&LoadCell| {
        cell.variant == "embedded" && cell.workload == "hello" && cell.detail.connections == 50
    };
    cells.find(is_it).unwrap()
}

#[test]
fn a_tail_in_one_trial_of_five_shows_in_the_p999_and_in_no_median() {
    let run = run();
    let usual = summarize(&run, &all_measured(&run));
    let mut records = all_measured(&run);
    let at = Point::Throughput { connections: 50 };
    let second = |t: &TrialId| is_embedded_hello(t) && t.cell.point == at && t.block == 2;
    replace(&mut records, second, |trial, position| {
        let mut record = measured(trial, position);
        let window = record.load_mut().unwrap().timed.as_mut().unwrap();
        window.fortio = slower(fortio("ok"), 20.0);
        record
    });
    let changed = summarize(&run, &records);
    let median = |summary: &Summary| loaded(summary).detail.p99_microseconds.unwrap().median;
    assert!(median(&changed) < 1.1 * median(&usual));
    let tail = |summary: &Summary| loaded(summary).detail.p999_microseconds.unwrap();
    assert!(tail(&changed) > 3.0 * tail(&usual));
}

#[test]
fn a_tail_with_too_few_requests_in_all_trials_is_left_out() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let mut cells = summary.cells.iter();
    let is_warm = |cell: &&LoadCell| cell.detail.sweep == Sweep::WarmLatency;
    let warm = cells.find(is_warm).unwrap();
    // Five trials of 300 requests.
    assert_eq!(warm.detail.p999_microseconds, None);
}

#[test]
fn the_tail_is_a_column_of_the_report_and_of_the_csv() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let tail = loaded(&summary).detail.p999_microseconds.unwrap();
    let files = report_files_of(&summary).unwrap();
    assert!(files["summary.csv"].contains(&tail.to_string()));
    for name in ["report.md", "report.html"] {
        assert!(files[name].contains("p99.9"), "{name}");
    }
}
