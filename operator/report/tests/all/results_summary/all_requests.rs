//! The requests of all trials of a point as one distribution.

use wasmbench_core::wire::record::{Point, TrialId};
use wasmbench_report::files::report_files_of;
use wasmbench_results::cell::CellSummary;
use wasmbench_results::measure::Sweep;
use wasmbench_results::{Summary, summarize};

use super::support::{is_embedded_hello, noisy_in};
use crate::results_support::{all_measured, fortio, measured, replace, run, slower};

fn loaded(summary: &Summary) -> &CellSummary {
    let mut cells = summary.cells.iter();
    let is_it = |cell: &&CellSummary| {
        cell.variant == "embedded" && cell.workload == "hello" && cell.connections == 50
    };
    cells.find(is_it).unwrap()
}

#[test]
fn a_tail_of_one_trial_in_five_is_in_all_requests_and_in_no_median() {
    let run = run();
    let usual = summarize(&run, &all_measured(&run));
    let mut records = all_measured(&run);
    let at = Point::Throughput { connections: 50 };
    let second = |t: &TrialId| is_embedded_hello(t) && t.cell.point == at && t.block == 2;
    replace(&mut records, second, |trial, position| {
        let mut record = measured(trial, position);
        let window = record.document.as_mut().unwrap().timed.as_mut().unwrap();
        window.fortio = slower(fortio("ok"), 20.0);
        record
    });
    let spoilt = summarize(&run, &records);
    let median = |summary: &Summary| loaded(summary).p99_microseconds.unwrap().median;
    assert!(median(&spoilt) < 1.1 * median(&usual));
    let (before, after) = (
        loaded(&usual).all_requests.unwrap(),
        loaded(&spoilt).all_requests.unwrap(),
    );
    let of_trials = |cell: &CellSummary| -> u64 {
        cell.trials.iter().map(|trial| trial.metrics.requests).sum()
    };
    assert_eq!(before.requests, of_trials(loaded(&usual)));
    assert!(after.p99_microseconds.unwrap() > 3.0 * before.p99_microseconds.unwrap());
    assert!(after.p999_microseconds.unwrap() >= after.p99_microseconds.unwrap());
}

#[test]
fn percentiles_that_all_trials_together_cannot_carry_are_left_out() {
    let run = run();
    let summary = summarize(&run, &all_measured(&run));
    let mut cells = summary.cells.iter();
    let warm = cells
        .find(|cell| cell.sweep == Sweep::WarmLatency)
        .unwrap()
        .all_requests
        .unwrap();
    assert_eq!(warm.requests, 1500, "five trials of 300 requests");
    assert!(warm.p99_microseconds.is_some(), "each alone has too few");
    assert_eq!(warm.p999_microseconds, None);
}

#[test]
fn what_a_noisy_node_spoilt_is_not_among_them_and_the_report_shows_them() {
    let summary = noisy_in(&[2]);
    let cell = loaded(&summary);
    let valid = cell.trials.iter().filter(|trial| trial.block != 2);
    let requests: u64 = valid.map(|trial| trial.metrics.requests).sum();
    assert_eq!(cell.all_requests.unwrap().requests, requests);
    let files = report_files_of(&summary).unwrap();
    for name in ["report.md", "report.html", "summary.csv"] {
        let text = &files[name];
        assert!(text.contains(&requests.to_string()), "{name}");
    }
}
