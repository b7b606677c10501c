//! How long a run will still take, and why it takes longer than planned.

use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{delay, remaining};
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::pace::Noted;
use wasmbench_model::store::Ended;

use crate::common::{RUN, config, parse};

/// A scout of 4 s, then two trials of one cell, of 5 s each.
fn short() -> ValidatedRun {
    let mut run = parse(RUN);
    run.spec.noise_floor = Some(false);
    run.spec.variants.truncate(1);
    run.spec.workloads.truncate(1);
    run.spec.sweeps = serde_yaml::from_str("warmLatency: {}").unwrap();
    let run = validate(&run, &config()).unwrap();
    assert!(run.order.len() == 3 && run.order[0].is_scout());
    run
}

/// The first trials of the run, which ended so and were recorded at these seconds.
fn observed(run: &ValidatedRun, recorded: &[(Ended, i64)]) -> Observed {
    let mut observed = Observed::default();
    for (trial, (ended, at)) in run.order.iter().zip(recorded) {
        let noted = Noted {
            recorded_at_seconds: *at,
            load_seconds: None,
            repeated_windows: 0,
            added_parts: 0,
        };
        observed.records.insert(trial.clone(), ended.clone());
        observed.noted.insert(trial.clone(), noted);
    }
    observed
}

fn left(recorded: &[(Ended, i64)]) -> u64 {
    let run = short();
    remaining(&run, &observed(&run, recorded)).least
}

#[test]
fn the_time_left_is_at_first_that_of_the_estimate() {
    assert_eq!(left(&[]), 4 + 10);
    assert_eq!(left(&[(Ended::Measured, 1000)]), 10);
}

#[test]
fn a_trial_takes_as_long_as_those_of_its_cell_did() {
    assert_eq!(
        left(&[(Ended::Measured, 1000), (Ended::Measured, 1020)]),
        20
    );
}

#[test]
fn a_pause_counts_for_ten_trials_at_most() {
    assert_eq!(
        left(&[(Ended::Measured, 1000), (Ended::Measured, 90_000)]),
        50
    );
}

#[test]
fn a_trial_that_was_skipped_took_no_time() {
    let skipped = Ended::Skipped("NotAllowed".into());
    assert_eq!(left(&[(Ended::Measured, 1000), (skipped, 1001)]), 5);
}

#[test]
fn a_run_that_takes_longer_than_planned_says_why() {
    let run = short();
    let recorded_at = |at| observed(&run, &[(Ended::Measured, 1000), (Ended::Measured, at)]);
    assert_eq!(delay(&run, &recorded_at(1005)), None);
    let mut late = recorded_at(1050);
    let unknown =
        "trials took 10.0 times as long as planned: requests take longer than the plan assumes";
    assert_eq!(delay(&run, &late).as_deref(), Some(unknown));
    let noted = late.noted.get_mut(&run.order[1]).unwrap();
    (noted.repeated_windows, noted.load_seconds) = (2, Some(30));
    assert_eq!(
        delay(&run, &late).unwrap(),
        "trials took 10.0 times as long as planned: 2 window(s) were measured again, because the node was noisy or the \
         histogram too coarse; a pod takes about 20 s until its load begins"
    );
}
