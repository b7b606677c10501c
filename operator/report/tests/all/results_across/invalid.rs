//! What is invalid in either run is shown in that run's report and not compared.

use serde_json::json;
use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::document::{NodeCpu, TimedWindow};
use wasmbench_model::wire::record::{Record, TrialId};
use wasmbench_report::across::Versus;
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::runs::across::CellRatio;
use wasmbench_results::summary::collect::{RunInput, summarize};
use wasmbench_results::vocabulary::measure::Metric;

use super::support::{climbing, compared, of_sweep};
use crate::results_support::climbs::windows;
use crate::results_support::cold_starts;

type Change = fn(&mut TimedWindow);

/// The `records` of climbs, with `change` applied to the second step of `embedded` in these blocks.
fn with_change(mut records: Vec<Record>, blocks: &[u32], change: Change) -> Vec<Record> {
    let of_embedded = |trial: &TrialId| {
        let is_meant = trial.cell.variant == "embedded";
        is_meant && blocks.contains(&trial.block)
    };
    windows(&mut records, 1, of_embedded).for_each(change);
    records
}

fn throttled(window: &mut TimedWindow) {
    window.subject.as_mut().unwrap().throttled_periods = Some(4);
}

fn noisy(window: &mut TimedWindow) {
    window.duration_nanoseconds = 1_000_000_000;
    window.node = Some(NodeCpu {
        busy_nanoseconds: 2_000_000_000,
        ..NodeCpu::default()
    });
}

#[test]
fn an_invalid_density_of_either_run_is_not_compared() {
    let sweep = json!({"density": {"instances": [1, 2, 5]}});
    let (before, after) = (of_sweep("before", sweep.clone()), of_sweep("after", sweep));
    let (light, heavy) = (climbing(&before, 20), climbing(&after, 40));
    let found = |one: &[Record], other: &[Record]| {
        let found = compared((&before, one), (&after, other), false);
        let variants: Vec<String> = found
            .ratios
            .iter()
            .map(|ratio| ratio.variant.clone())
            .collect();
        (variants.join(" "), found.worse(), found.only_in_one)
    };
    let both = "native embedded".to_owned();
    assert_eq!(found(&light, &heavy), (both.clone(), 1, 0));
    // One climb under a CPU limit.
    let changed = |records: &[Record]| with_change(records.to_vec(), &[2], throttled);
    let native = |only_in_one: u32| ("native".to_owned(), 0, only_in_one);
    assert_eq!(found(&light, &changed(&heavy)), native(1));
    assert_eq!(found(&changed(&light), &heavy), native(1));
    assert_eq!(found(&changed(&light), &changed(&heavy)), native(0));
    // Climbs on a noisy node are judged like others.
    let always_noisy = with_change(heavy, &[1, 2, 3, 4, 5], noisy);
    assert_eq!(found(&light, &always_noisy), (both, 1, 0));
}

#[test]
fn an_invalid_density_is_never_worse_than_that_of_a_named_run() {
    let sweep = json!({"density": {"instances": [1, 2, 5]}});
    let (before, after) = (of_sweep("before", sweep.clone()), of_sweep("after", sweep));
    let one = summarize(&before, &climbing(&before, 20));
    let worse = |records: &[Record]| {
        let other = summarize(&after, records);
        let versus = Versus::new("before", Ok((&before.spec, &one)), (&after.spec, &other));
        let status = versus.status();
        (status.compared, status.worse)
    };
    let heavy = climbing(&after, 40);
    assert_eq!(worse(&heavy), (true, 1));
    assert_eq!(worse(&with_change(heavy, &[2], throttled)), (true, 0));
}

/// A run of cold starts. Of the 15 pods of `hare` started one at a time, `at_first_attempt` are
/// answered at the first attempt.
fn thawed(name: &str, at_first_attempt: usize) -> (RunInput, Vec<Record>) {
    let input = RunInput {
        name: name.into(),
        ..cold_starts::input()
    };
    let mut records = cold_starts::records();
    let samples = cold_starts::hares(&mut records).flat_map(|document| &mut document.samples);
    let counted = samples.filter(|sample| !sample.discarded);
    let pods = counted.flat_map(|sample| &mut sample.pods);
    for pod in pods.take(at_first_attempt) {
        pod.attempts = 1;
    }
    (input, records)
}

type HareFound = (Vec<Metric>, usize, u32);

/// The compared metrics of `hare`'s cold starts one at a time, the number of all ratios, and the
/// number of metrics that only one of the runs has.
fn of_hare(before: &(RunInput, Vec<Record>), after: &(RunInput, Vec<Record>)) -> HareFound {
    let found = compared((&before.0, &before.1), (&after.0, &after.1), false);
    let ratios = found.ratios.iter();
    let of_hare = ratios.filter(|ratio| ratio.variant == "hare" && ratio.point == "cold-c1");
    let metrics = of_hare.map(|ratio| ratio.metric).collect();
    (metrics, found.ratios.len(), found.only_in_one)
}

#[test]
fn answers_mostly_at_the_first_attempt_are_not_compared_across_runs() {
    let found = |before: usize, after: usize| {
        let (before, after) = (thawed("before", before), thawed("after", after));
        of_hare(&before, &after)
    };
    let (listening, answer) = (Metric::ColdStartListening, Metric::ColdStartAnswer);
    assert_eq!(found(7, 7), (vec![listening, answer], 8, 0));
    assert_eq!(found(0, 8), (vec![listening], 7, 1));
    assert_eq!(found(8, 0), (vec![listening], 7, 1));
    assert_eq!(found(8, 8), (vec![listening], 7, 0));
}

#[test]
fn starts_are_compared_across_runs_by_milliseconds() {
    let verdict = |milliseconds: i64| {
        let (before, mut after) = (thawed("before", 0), thawed("after", 0));
        after.0.spec.minimum_effect = "1%".into();
        let documents = cold_starts::hares(&mut after.1);
        let samples = documents.flat_map(|document| &mut document.samples);
        for pod in samples.flat_map(|sample| &mut sample.pods) {
            let listening = pod.steps.get_mut(&ColdStep::Listening).unwrap();
            listening.nanoseconds += milliseconds * 1_000_000;
        }
        let found = compared((&before.0, &before.1), (&after.0, &after.1), false);
        let mut ratios = found.ratios.into_iter();
        let is_meant = |ratio: &CellRatio| {
            (ratio.variant.as_str(), ratio.point.as_str(), ratio.metric)
                == ("hare", "cold-c1", Metric::ColdStartListening)
        };
        ratios.find(is_meant).unwrap().verdict
    };
    // More than 1 % of it, but less than 10 ms.
    assert_ne!(verdict(8), Some(Verdict::Slower));
    assert_eq!(verdict(150), Some(Verdict::Slower));
}

#[test]
fn cold_starts_whose_class_failed_in_either_run_are_not_compared() {
    let (good, mut bad) = (thawed("good", 0), thawed("bad", 0));
    let document = cold_starts::hares(&mut bad.1).next().unwrap();
    document.samples[3].wrong_class = true;
    assert_eq!(of_hare(&good, &bad), (vec![], 6, 2));
    assert_eq!(of_hare(&bad, &good), (vec![], 6, 2));
}
