//! Records to the decision whether another block is needed, and what reports say of it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a broken fixture must stop the test"
)]

mod results_support;

use results_support::{all_measured, replace, run, skipped};
use serde_json::json;
use wasmbench_core::results::precision::Outcome;
use wasmbench_core::results::{RunInput, Summary, report_files_of, summarize};
use wasmbench_core::wire::record::Record;

/// The fixture's run, precise to within `target`, and its records of `blocks` blocks.
fn precise(target: &str, blocks: u32) -> (RunInput, Vec<Record>) {
    let mut input = run();
    input.spec.blocks = blocks;
    let records = all_measured(&input);
    input.spec.blocks = 5;
    let precision = json!({"targetRelativeInterval": target, "maxBlocks": 10});
    input.spec.precision = Some(serde_json::from_value(precision).unwrap());
    (input, records)
}

fn outcome(summary: &Summary) -> Outcome {
    summary.precision.as_ref().expect("a precision").outcome
}

#[test]
fn a_run_ends_when_all_intervals_are_narrow_and_says_so() {
    let (input, records) = precise("5%", 8);
    let summary = summarize(&input, &records);
    assert_eq!(outcome(&summary), Outcome::PreciseEnough);
    assert_eq!((summary.compared.blocks, summary.trials.missing), (8, 0));
    let widest = summary.precision.as_ref().unwrap().widest.as_ref().unwrap();
    assert!(widest.relative.unwrap() < 0.05, "{widest:?}");
    let files = report_files_of(&summary).unwrap();
    for (name, report) in files.iter().filter(|(name, _)| name.starts_with("report")) {
        let line = "Precision: precise enough after 8 blocks: the widest interval is +-";
        assert!(report.contains(line), "{name}: {report}");
    }
}

#[test]
fn a_run_goes_on_until_its_budget_is_spent() {
    let (input, records) = precise("0.1%", 8);
    assert_eq!(outcome(&summarize(&input, &records)), Outcome::GoingOn);
    let (input, records) = precise("0.1%", 10);
    let summary = summarize(&input, &records);
    assert_eq!(outcome(&summary), Outcome::BudgetSpent);
    let message = &summary.precision.unwrap().message;
    assert!(
        message.starts_with("budget of 10 blocks spent: ") && message.contains("is still at +-"),
        "{message}"
    );
}

#[test]
fn a_block_that_is_not_complete_decides_nothing() {
    let (input, mut records) = precise("5%", 9);
    records.pop();
    let summary = summarize(&input, &records);
    assert_eq!(outcome(&summary), Outcome::GoingOn);
    assert_eq!((summary.compared.blocks, summary.trials.missing), (9, 1));
}

#[test]
fn the_order_of_records_decides_nothing() {
    let (input, mut records) = precise("1%", 9);
    let one = summarize(&input, &records);
    records.reverse();
    assert_eq!(one, summarize(&input, &records));
}

#[test]
fn a_run_without_a_ratio_that_can_still_be_measured_ends() {
    let (input, mut records) = precise("0.1%", 8);
    replace(
        &mut records,
        |trial| trial.cell.variant == "embedded" && trial.block > 2,
        |trial, position| {
            let outcome = skipped("SubjectCrashed", "it failed before");
            results_support::record(trial, position, outcome, None)
        },
    );
    let summary = summarize(&input, &records);
    assert_eq!(outcome(&summary), Outcome::NothingToCompare);
}

#[test]
fn a_run_without_precision_says_nothing_of_it() {
    let input = run();
    let summary = summarize(&input, &all_measured(&input));
    assert_eq!(summary.precision, None);
}
