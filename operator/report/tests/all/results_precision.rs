//! From records to the plan how many blocks a run has, and what reports show of it.

use serde_json::json;
use wasmbench_model::wire::density::DensityMemory;
use wasmbench_model::wire::record::{Point, Record, TrialId};
use wasmbench_report::files::report_files_of;
use wasmbench_results::judge::comparison::{Comparison, Difference, Estimate};
use wasmbench_results::judge::precision::{Ending, Plan, Precision, Target, decide, widths};
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::statistics::Interval;
use wasmbench_results::summary::Summary;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::measure::Metric;

use crate::results_support::climbs::climbs;
use crate::results_support::{self, all_measured, capacity, replace, run, skipped};

/// The fixture's run, precise to within `target`, with its records of `blocks` blocks.
fn precise(target: &str, blocks: u32) -> (RunInput, Vec<Record>) {
    let mut input = run();
    input.spec.blocks = blocks;
    let records = all_measured(&input);
    input.spec.blocks = 5;
    let precision = json!({"targetRelativeInterval": target, "maxBlocks": 10});
    input.spec.precision = Some(serde_json::from_value(precision).unwrap());
    (input, records)
}

fn outcome(summary: &Summary) -> Ending {
    summary.precision.as_ref().expect("a precision").outcome
}

#[test]
fn a_run_ends_when_all_intervals_are_narrow_and_reports_it() {
    let (input, records) = precise("5%", 8);
    let summary = summarize(&input, &records);
    assert_eq!(outcome(&summary), Ending::PreciseEnough);
    assert_eq!((summary.compared.blocks, summary.trials.missing), (8, 0));
    let widest = summary.precision.as_ref().unwrap().widest.as_ref().unwrap();
    assert!(widest.relative.unwrap() < 0.05, "{widest:?}");
    let files = report_files_of(&summary).unwrap();
    for name in ["report.md", "report.html"] {
        let report = &files[name];
        let line = "Precision: precise enough after 8 blocks: the widest interval is +-";
        assert!(report.contains(line), "{name}: {report}");
    }
}

#[test]
fn a_run_goes_on_until_its_budget_is_spent() {
    let (input, records) = precise("0.1%", 8);
    assert_eq!(outcome(&summarize(&input, &records)), Ending::GoingOn);
    let (input, records) = precise("0.1%", 10);
    let summary = summarize(&input, &records);
    assert_eq!(outcome(&summary), Ending::BudgetSpent);
    let message = &summary.precision.unwrap().message;
    assert!(
        message.starts_with("budget of 10 blocks spent: ") && message.contains("is still at +-"),
        "{message}"
    );
}

#[test]
fn an_incomplete_block_decides_nothing() {
    for (blocks, message) in [
        (8, "block 8 is being measured"),
        (9, "block 9 of 10 planned is being measured"),
    ] {
        let (input, mut records) = precise("0.1%", blocks);
        records.pop();
        let summary = summarize(&input, &records);
        assert_eq!(outcome(&summary), Ending::GoingOn);
        let compared = (summary.compared.blocks, summary.trials.missing);
        assert_eq!(compared, (blocks, 1));
        assert_eq!(summary.precision.unwrap().message, message);
    }
}

#[test]
fn a_plan_is_made_once_and_holds_whatever_later_blocks_show() {
    for target in ["5%", "1%", "0.5%", "0.3%", "0.2%", "0.1%"] {
        let precision = |blocks| {
            let (input, records) = precise(target, blocks);
            summarize(&input, &records).precision.unwrap()
        };
        let first = precision(8);
        let planned = first.planned.expect("a plan");
        assert!((8..=10).contains(&planned), "{first:?}");
        assert_eq!(first.blocks_after(8), planned);
        for later in [9, 10].map(precision) {
            assert_eq!(later.planned, Some(planned), "{target}: {later:?}");
            let goes_on = later.blocks < planned;
            assert_eq!(later.outcome == Ending::GoingOn, goes_on, "{later:?}");
        }
    }
}

#[test]
fn intervals_have_the_freedom_of_the_blocks_that_chose_their_number() {
    for (target, blocks, expected) in [("5%", 8, None), ("5%", 9, Some(8)), ("0.1%", 10, None)] {
        let (input, records) = precise(target, blocks);
        let found = summarize(&input, &records).comparisons;
        assert!(found.iter().any(|one| one.primary));
        for one in &found {
            let expected = expected.filter(|_| one.primary);
            assert_eq!(one.estimate.pilot_blocks, expected, "{target}: {one:?}");
        }
    }
}

#[test]
fn the_order_of_records_decides_nothing() {
    let (input, mut records) = precise("1%", 9);
    let one = summarize(&input, &records);
    records.reverse();
    assert_eq!(one, summarize(&input, &records));
}

/// After this block the only competitor is no longer tried.
fn give_up(records: &mut [Record], last: u32) {
    replace(
        records,
        |trial| trial.cell.variant == "embedded" && trial.block > last,
        |trial, position| {
            let outcome = skipped("SubjectCrashed", "it failed before");
            results_support::record(trial, position, outcome, None)
        },
    );
}

#[test]
fn a_run_ends_when_no_remaining_ratio_can_be_measured() {
    for (blocks, last) in [(8, 2), (9, 8)] {
        let (input, mut records) = precise("0.1%", blocks);
        give_up(&mut records, last);
        let precision = summarize(&input, &records).precision.unwrap();
        assert_eq!(precision.outcome, Ending::NothingToCompare);
        assert_eq!(
            (precision.planned, precision.blocks_after(blocks)),
            (None, blocks)
        );
    }
}

#[test]
fn where_only_bounds_are_known_a_run_ends_and_names_what_would_show_more() {
    for native in [500.0, 9000.0] {
        let (mut input, records) = capacity::records_of(8, |trial| {
            if trial.cell.variant == "wasm" {
                9000.0
            } else {
                native
            }
        });
        input.spec.precision = Some(serde_json::from_value(json!({"maxBlocks": 20})).unwrap());
        let precision = summarize(&input, &records).precision.unwrap();
        assert_eq!(precision.outcome, Ending::NothingToCompare);
        let expected = "ended after 8 blocks: only bounds are known";
        let message = &precision.message;
        assert!(
            message.starts_with(expected) && message.contains("openLoop.rates"),
            "{message}"
        );
    }
}

/// The `records` on a node that others kept busy during the trials that `which` picks.
fn noisy(mut records: Vec<Record>, which: impl Fn(&TrialId) -> bool) -> Vec<Record> {
    for record in records.iter_mut().filter(|record| which(&record.trial)) {
        let timed = record.load_mut().unwrap().timed.as_mut().unwrap();
        timed.node.as_mut().unwrap().busy_nanoseconds = 2 * timed.duration_nanoseconds;
    }
    records
}

#[test]
fn noisy_trials_cost_no_block_by_themselves() {
    let (input, records) = precise("5%", 8);
    let summary = summarize(&input, &noisy(records, |trial| trial.block <= 2));
    assert_eq!(outcome(&summary), Ending::PreciseEnough);
}

#[test]
fn a_noisy_point_of_a_variant_that_is_given_up_is_not_waited_for() {
    let (input, records) = precise("0.1%", 8);
    let mut records = noisy(records, |trial| trial.block <= 2);
    give_up(&mut records, 2);
    assert_eq!(
        outcome(&summarize(&input, &records)),
        Ending::NothingToCompare
    );
}

#[test]
fn memory_per_instance_is_a_ratio_that_has_to_be_precise() {
    for (scatter, expected) in [(1, Ending::PreciseEnough), (40, Ending::GoingOn)] {
        let (mut input, _) = precise("5%", 8);
        let sweeps = json!({"density": {"instances": [1, 2, 5]}});
        input.spec.sweeps = serde_json::from_value(sweeps).unwrap();
        let mut measured = input.clone();
        measured.spec.blocks = 8;
        let records = climbs(&measured, |trial, instances| {
            scattered(trial, instances, scatter)
        });
        let summary = summarize(&input, &records);
        let precision = summary.precision.as_ref().unwrap();
        assert_eq!(precision.outcome, expected, "{precision:?}");
        let what = &precision.widest.as_ref().unwrap().what;
        assert!(
            what.starts_with("memory per instance of embedded on "),
            "{what}"
        );
    }
}

/// 20 MB per instance; in `embedded`, up to twice `scatter` percent more, depending on the block.
fn scattered(trial: &TrialId, instances: u32, scatter: u64) -> DensityMemory {
    let off = if trial.cell.variant == "embedded" {
        u64::from(trial.block % 3) * scatter
    } else {
        0
    };
    DensityMemory {
        pods_bytes: u64::from(instances) * (100 + off) * 200_000,
        ..DensityMemory::default()
    }
}

#[test]
fn a_run_without_precision_does_not_mention_it() {
    let input = run();
    let summary = summarize(&input, &all_measured(&input));
    assert_eq!(summary.precision, None);
}

/// The decision after 8 blocks of starts that take a second, known to within `milliseconds`, which
/// is less than 1 %.
fn starts_within(milliseconds: f64) -> Precision {
    let ratios = [1.0, 1.001, 0.999, 1.0, 1.0, 1.001, 0.999, 1.0];
    let interval = Interval::from_ratios(&ratios).unwrap();
    let difference = Difference {
        value: 0.0,
        low: Some(-milliseconds * 1e3),
        high: Some(milliseconds * 1e3),
        smallest: 10e3,
        at_least: None,
        smallest_found: None,
    };
    let starts = Comparison {
        variant: "equal".into(),
        workload: "hello".into(),
        metric: Metric::ColdStartListening,
        point: Point::ColdStart { concurrency: 1 },
        primary: true,
        estimate: Estimate::new(&interval, &ratios),
        difference: Some(difference),
        p_value: 1.0,
        adjusted_p_value: 1.0,
        noise_floor: None,
        verdict: Verdict::Inconclusive,
        untrusted: vec![],
        at_least: None,
        smallest_found: None,
    };
    let (target, widths) = (Target::new("2.5%".into()), widths(&[starts]));
    let plan = Plan::new(&target, 8, 20, &widths);
    decide(&target, 8, plan.as_ref(), &widths)
}

#[test]
fn starts_are_precise_to_half_of_the_smallest_difference_in_milliseconds() {
    for (milliseconds, planned, expected) in [
        (6.0, 13, " is at +-6.00 ms, and 13 reach +-5.00 ms"),
        (8.0, 20, " is at +-8.00 ms, and +-5.00 ms would take 22"),
    ] {
        let wide = starts_within(milliseconds);
        assert_eq!(
            (wide.outcome, wide.planned),
            (Ending::GoingOn, Some(planned))
        );
        let begins = format!("block 8 of {planned} planned: after 8 blocks ");
        let message = wide.message;
        assert!(
            message.starts_with(&begins) && message.ends_with(expected),
            "{message}"
        );
    }
    let narrow = starts_within(4.0);
    assert_eq!(narrow.outcome, Ending::PreciseEnough);
    let of_narrow = narrow.widest.unwrap().difference.unwrap();
    assert_eq!((of_narrow.reaches, of_narrow.target), (4e3, 5e3));
}
