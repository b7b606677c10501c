//! Two runs, of which the later one lost points: what is named, and what is not a loss.

use wasmbench_model::wire::record::{Point, Record, TrialId};
use wasmbench_report::across::InWords as _;
use wasmbench_results::runs::across::Across;
use wasmbench_results::summary::collect::{RunInput, summarize};

use super::support;
use crate::results_support::{all_measured, capacity, failed, record, replace, run};

/// `after` as a multiple of a run in which every trial was measured.
fn compared(after: &RunInput, records: &[Record]) -> Across {
    let before = run();
    support::compared((&before, &all_measured(&before)), (after, records), false)
}

/// The records of a run in which these trials crashed.
fn crashed(run: &RunInput, which: impl Fn(&TrialId) -> bool) -> Vec<Record> {
    let mut records = all_measured(run);
    replace(&mut records, which, |trial, position| {
        record(trial, position, failed("SubjectCrashed", "exit 1"), None)
    });
    records
}

fn lost(found: &Across) -> Vec<(&str, &str, &str)> {
    let lost = found.lost.iter();
    lost.map(|lost| {
        let (variant, workload) = (lost.variant.as_str(), lost.workload.as_str());
        (variant, workload, lost.point.as_str())
    })
    .collect()
}

#[test]
fn a_variant_that_crashes_is_lost_and_named_in_every_output() {
    let after = run();
    let is_lost = |t: &TrialId| t.cell.variant == "embedded" && t.cell.workload == "hello";
    let found = compared(&after, &crashed(&after, is_lost));
    assert_eq!((found.worse(), found.ratios.len()), (0, 27));
    let of_hello = |point| ("embedded", "hello", point);
    assert_eq!(
        lost(&found),
        ["warm", "throughput-c10", "throughput-c50"].map(of_hello)
    );
    let message =
        "no valid number any more: embedded on hello (warm, throughput-c10, throughput-c50)";
    assert!(found.line().contains(message), "{}", found.line());
    assert!(found.text().contains(message), "{}", found.text());
}

#[test]
fn a_single_point_that_crashes_under_load_is_lost() {
    let after = run();
    let at = Point::Throughput { connections: 50 };
    let is_lost = |t: &TrialId| t.cell.variant == "embedded" && t.cell.point == at;
    let found = compared(&after, &crashed(&after, is_lost));
    let expected = [
        ("embedded", "hello", "throughput-c50"),
        ("embedded", "compute", "throughput-c50"),
    ];
    assert_eq!(lost(&found), expected);
}

#[test]
fn points_that_the_later_run_does_not_request_are_not_lost() {
    let mut after = run();
    after.spec.variants.truncate(1);
    if let Some(throughput) = &mut after.spec.sweeps.throughput {
        throughput.connections = vec![50];
    }
    let found = compared(&after, &all_measured(&after));
    assert!(found.only_in_one > 0);
    assert_eq!((lost(&found), found.lost_words()), (vec![], None));
}

#[test]
fn a_point_that_only_lacks_cpu_and_memory_is_not_lost() {
    let after = run();
    let mut records = all_measured(&after);
    for document in records.iter_mut().filter_map(|r| r.load_mut()) {
        if let Some(timed) = &mut document.timed {
            timed.subject = None;
        }
    }
    let found = compared(&after, &records);
    assert_eq!((found.ratios.len(), found.only_in_one), (12, 24));
    assert_eq!(lost(&found), []);
}

#[test]
fn a_point_that_an_unfinished_run_has_not_come_to_is_not_lost_and_one_that_crashed_is() {
    let after = run();
    let is_embedded = |t: &TrialId| t.cell.variant == "embedded";
    let mut records = crashed(&after, is_embedded);
    records.retain(|record| {
        let trial = &record.trial;
        trial.block == 1 && (!is_embedded(trial) || trial.cell.workload == "hello")
    });
    let found = compared(&after, &records);
    assert_eq!(lost(&found).len(), 6);
    let found = found.without_open_points(&summarize(&after, &records));
    let of_hello = |point| ("embedded", "hello", point);
    assert_eq!(
        lost(&found),
        ["warm", "throughput-c10", "throughput-c50"].map(of_hello)
    );
}

#[test]
fn a_capacity_that_rose_above_the_ladder_is_not_lost_and_one_that_fell_below_it_is() {
    let (_, before, run) = capacity::with(340.0);
    for (most, expected) in [(9000.0, vec![]), (1.0, vec![("wasm", "shop", "capacity")])] {
        let after = capacity::records(|trial| {
            let is_changed = trial.cell.variant == "wasm" && trial.block == 1;
            match trial.cell.variant.as_str() {
                _ if is_changed => most,
                "wasm" => 340.0,
                _ => 500.0,
            }
        });
        let found = support::compared((&run, &before), (&after.0, &after.1), false);
        assert_eq!(lost(&found), expected, "{most}");
        assert!(!found.ratios.is_empty(), "the baseline still has numbers");
    }
}
