use proptest::prelude::*;

use super::*;

/// Deterministic scatter of 1 %: no two of seven runs in a row are equal.
const SCATTER: [f64; 7] = [0.0, 0.012, -0.008, 0.006, -0.014, 0.009, -0.005];

/// Runs that scatter around these logarithms, on one node.
fn around(levels: &[f64]) -> Vec<Observed<'static>> {
    let runs = levels.iter().zip(SCATTER.iter().cycle()).zip(1..);
    runs.map(|((level, scatter), run)| Observed {
        run,
        number: level + scatter,
        error: None,
        stratum: "node",
    })
    .collect()
}

/// Levels of a history with this many runs at each level.
fn steps(steps: &[(usize, f64)]) -> Vec<f64> {
    let levels = steps
        .iter()
        .flat_map(|(runs, level)| std::iter::repeat_n(*level, *runs));
    levels.collect()
}

fn firsts(history: &[Observed<'_>]) -> Vec<u64> {
    let changes = changes(history, 1);
    changes.iter().map(|change| change.first).collect()
}

#[test]
fn a_step_is_found_at_its_first_run_with_its_size() {
    let found = changes(&around(&steps(&[(12, 0.0), (6, 0.1)])), 1);
    let [change] = found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(change.first, 13);
    assert!(change.found_with <= 17, "{change:?}");
    assert!(change.low < 0.1 && 0.1 < change.high, "{change:?}");
    assert!((change.size - 0.1).abs() < 0.01, "{change:?}");
    assert!(change.p_value <= ALARM, "{change:?}");
}

/// As was once planted on the cluster: an image that is slower from the sixth of twelve runs on.
#[test]
fn a_tenth_more_after_five_runs_is_found_within_seven() {
    assert_eq!(firsts(&around(&steps(&[(5, 0.0), (7, 0.1)]))), [6]);
}

/// Starts in microseconds: 120 ms more than the baseline's, and 12 ms more from the thirteenth run on.
#[test]
fn a_step_of_differences_is_found_in_their_unit() {
    let mut history = around(&steps(&[(12, 120.0), (6, 132.0)]));
    for run in &mut history {
        run.number *= 1000.0;
    }
    let found = changes(&history, 1);
    let [change] = found[..] else {
        panic!("{found:?}")
    };
    assert_eq!(change.first, 13);
    assert!((change.size - 12_000.0).abs() < 50.0, "{change:?}");
    assert!(
        change.low < 12_000.0 && 12_000.0 < change.high,
        "{change:?}"
    );
}

#[test]
fn four_runs_are_not_yet_a_history() {
    assert!(firsts(&around(&steps(&[(4, 0.0), (4, 0.5)]))).is_empty());
}

#[test]
fn a_shift_that_reverts_after_one_run_is_not_a_change_whatever_its_size() {
    for size in [0.05, 0.2, 1.0, 5.0, -5.0] {
        let history = around(&steps(&[(15, 0.0), (1, size), (15, 0.0)]));
        assert!(firsts(&history).is_empty(), "{size}");
    }
}

#[test]
fn a_change_there_and_back_is_two_changes_of_opposite_sizes() {
    let found = changes(&around(&steps(&[(12, 0.0), (12, 0.1), (12, 0.0)])), 1);
    let [there, back] = found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((there.first, back.first), (13, 25));
    assert!(there.low > 0.05 && back.high < -0.05, "{found:?}");
}

#[test]
fn a_shift_with_a_new_stratum_is_an_explanation_not_a_change() {
    let mut history = around(&steps(&[(15, 0.0), (30, 0.3)]));
    assert_eq!(firsts(&history), [16]);
    for run in &mut history[15..] {
        run.stratum = "new kernel";
    }
    assert!(firsts(&history).is_empty());
}

#[test]
fn a_change_within_a_later_stratum_is_found_in_it() {
    let mut history = around(&steps(&[(15, 0.0), (12, 0.3), (6, 0.4)]));
    for run in &mut history[15..] {
        run.stratum = "new kernel";
    }
    assert_eq!(firsts(&history), [28]);
}

/// Each node has too few runs after the change for a test of its own.
#[test]
fn runs_on_alternating_nodes_are_counted_together() {
    let mut history = around(&steps(&[(20, 0.0), (6, 0.1)]));
    for run in history.iter_mut().step_by(2) {
        run.stratum = "another node";
        run.number += 0.5;
    }
    assert_eq!(firsts(&history), [21]);
}

#[test]
fn a_change_takes_longer_to_find_with_more_series() {
    let history = around(&steps(&[(12, 0.0), (15, 0.02)]));
    let found_with = |series| {
        changes(&history, series)
            .first()
            .map(|found| found.found_with)
    };
    let single = found_with(1).unwrap();
    assert!(
        found_with(20).is_none_or(|among| among > single),
        "{single}"
    );
}

#[test]
fn errors_of_runs_widen_the_interval_and_find_nothing() {
    let mut history = around(&steps(&[(12, 0.0), (6, 0.1)]));
    let without = changes(&history, 1)[0];
    for run in &mut history {
        run.error = Some(0.1);
    }
    let with = changes(&history, 1)[0];
    assert!(with.low < without.low && without.high < with.high);
    assert_eq!((with.first, with.size), (without.first, without.size));
}

fn history() -> impl Strategy<Value = Vec<(f64, usize)>> {
    let step = (0_usize..25, -0.2..0.2_f64);
    let noise = prop::collection::vec((-0.03..0.03_f64, 0_usize..8), 0..45);
    (step, noise).prop_map(|((at, size), noise)| {
        let numbers = noise.into_iter().enumerate();
        // One run in four belongs to the other stratum.
        numbers
            .map(|(run, (noise, node))| (noise + if run < at { 0.0 } else { size }, node / 6))
            .collect()
    })
}

fn observed(numbers: &[(f64, usize)]) -> Vec<Observed<'static>> {
    let runs = numbers.iter().zip(1..);
    runs.map(|(&(number, node), run)| Observed {
        run,
        number,
        error: None,
        stratum: ["one", "other"][node % 2],
    })
    .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_change_that_was_found_stays_found_whatever_comes_later(numbers in history(), count in 0_usize..45) {
        let all = observed(&numbers);
        let count = count.min(all.len());
        let then = changes(&all[..count], 1);
        let now = changes(&all, 1);
        prop_assert!(then.len() <= now.len());
        for (then, now) in then.iter().zip(&now) {
            prop_assert_eq!((then.first, then.found_with), (now.first, now.found_with));
            prop_assert!((then.p_value - now.p_value).abs() < f64::EPSILON);
        }
    }

    #[test]
    fn an_inverted_history_has_the_same_changes_with_mirrored_sizes(numbers in history()) {
        let mirrored: Vec<(f64, usize)> = numbers.iter().map(|(number, node)| (-number, *node)).collect();
        let (one, other) = (changes(&observed(&numbers), 1), changes(&observed(&mirrored), 1));
        prop_assert_eq!(one.len(), other.len());
        for (one, other) in one.iter().zip(&other) {
            prop_assert_eq!(one.first, other.first);
            prop_assert!((one.size + other.size).abs() < 1e-12);
            prop_assert!((one.low + other.high).abs() < 1e-12);
        }
    }

    #[test]
    fn a_change_has_runs_on_both_sides_and_lies_in_its_interval(numbers in history()) {
        let found = changes(&observed(&numbers), 1);
        for change in &found {
            prop_assert!(change.first > FEWEST_BEFORE as u64);
            prop_assert!(change.found_with + 1 >= change.first + FEWEST_AFTER as u64);
            prop_assert!(change.low <= change.size && change.size <= change.high);
        }
        prop_assert!(found.windows(2).all(|two| two[0].first + FEWEST_BEFORE as u64 <= two[1].first));
    }

    #[test]
    fn equal_numbers_never_change(number in -1e8..1e8_f64, runs in 0_usize..60) {
        prop_assert!(changes(&observed(&vec![(number, 0); runs]), 1).is_empty());
    }

    #[test]
    fn hostile_numbers_give_no_nan(
        numbers in prop::collection::vec((prop::num::f64::ANY, prop::num::f64::ANY), 0..40)
    ) {
        let runs = numbers.iter().zip(1..);
        let history: Vec<Observed<'_>> = runs
            .map(|(&(number, error), run)| Observed { run, number, error: Some(error), stratum: "node" })
            .collect();
        for change in changes(&history, 1) {
            prop_assert!(change.size.is_finite() && change.low.is_finite() && change.high.is_finite());
            prop_assert!((0.0..=1.0).contains(&change.p_value));
        }
    }
}

#[test]
fn incremental_detection_finds_the_same_changes_as_a_replay() {
    let history = around(&steps(&[(12, 0.0), (9, 0.1), (12, -0.05)]));
    let (mut found, mut since) = (vec![], 0);
    for count in 1..=history.len() {
        if let Some(change) = latest(&history[since..count], 1) {
            since = usize::try_from(change.first).unwrap() - 1;
            found.push(change);
        }
    }
    let replayed = changes(&history, 1);
    let places = |changes: &[Change]| -> Vec<(u64, u64)> {
        changes
            .iter()
            .map(|change| (change.first, change.found_with))
            .collect()
    };
    assert_eq!(places(&found), places(&replayed));
    assert_eq!(found.len(), 2, "{found:?}");
    let (size, ends) = size_of(&history[..21], 13).unwrap();
    assert_eq!(
        (size, ends),
        (replayed[0].size, (replayed[0].low, replayed[0].high))
    );
}
