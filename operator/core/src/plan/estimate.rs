//! How long a run will take: an estimate for people. At first it comes from the spec only, and
//! covers loads with their warm-up, the load generator's ceiling in the first block, and the start
//! and removal of pods.
//!
//! Only the measurement shows the rest: windows repeated because the node was noisy or the histogram
//! too coarse, warm-ups extended until the rate settles, cold-start samples taken again, image pulls,
//! services slower than these constants. So the time left follows the pace of the trials so far.

use std::ops::RangeInclusive;

use wasmbench_model::ladder;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::{Point, TrialId};
use wasmbench_model::wire::request::{DEFAULT_REQUESTS, LEAST_SECONDS};
use wasmbench_model::wire::scout::IDLE_SECONDS;

use crate::build::cold_start_job::{FLOOR_SAMPLES, has_floor};
use crate::build::payload;
use crate::build::probe_job::{calibrates, ladder_seconds};
use crate::build::scout_job::finds_peaks;
use crate::observed::Observed;
use crate::plan::rate::stated_rungs;
use crate::validate::ValidatedRun;

/// Seconds that a trial takes besides its load: two pods start and go away, on a small node.
const OVERHEAD_SECONDS: u64 = 2;
/// A warm-latency window is short; on one connection, services slower than 2 ms take longer.
const WARM_REQUESTS_PER_SECOND: u64 = 500;
/// A cold-start pod comes and goes in about two seconds on a small node.
const SAMPLE_SECONDS: u64 = 2;
/// A density step: pods that come up together, a short load, and the wait for memory statistics. In
/// addition, each pod costs one second in total.
const STEP_SECONDS: u64 = 6;

/// Before the scout has found a peak, this one is assumed: with a higher one the lowest rungs have their
/// requests sooner. A climb that ends before its last rung takes less, too.
const ASSUMED_PEAK_RPS: f64 = 200.0;

/// Seconds in which a scout requests all workloads.
const SCOUT_SECONDS: u32 = 1;

/// How long the load generator's own ceiling is measured, in trials that do so.
const CALIBRATION_SECONDS: u64 = 1;

/// A probe determines the histogram's resolution before its window, and its pod may start slowly.
const QUIET_MARGIN_SECONDS: u64 = 3;
/// Meanwhile, schedules start no runs and places in the queue get old.
const QUIET_MAXIMUM_SECONDS: u64 = 120;

/// The pace starts from this many seconds taken as expected: a single trial shows little about the
/// others.
const PACE_PRIOR_SECONDS: u64 = 30;
/// A pace beyond these is not that of the trials: the run was suspended, or a clock was set.
const PACES: RangeInclusive<f64> = 0.4..=2.5;

/// Seconds that a trial will probably take.
pub fn expected_trial_seconds(run: &ValidatedRun, trial: &TrialId) -> u64 {
    let sweeps = &run.spec.sweeps;
    let load = match trial.cell.point {
        Point::ColdStart { .. } => {
            let floor = if has_floor(run, trial) {
                FLOOR_SAMPLES + 1
            } else {
                0
            };
            let sweep = sweeps.cold_start.as_ref();
            let samples = sweep.map_or(0, |sweep| sweep.samples + 1 + floor);
            u64::from(samples) * SAMPLE_SECONDS
        }
        Point::Density => sweeps.density.as_ref().map_or(0, |sweep| {
            let ladder = sweep.ladder();
            let most = ladder.last().copied().unwrap_or_default();
            u64::try_from(ladder.len()).unwrap_or_default() * STEP_SECONDS + u64::from(most)
        }),
        Point::WarmLatency => sweeps.warm_latency.map_or(0, |sweep| {
            let requests = sweep.requests.unwrap_or(DEFAULT_REQUESTS) + sweep.warmup_requests;
            u64::from(requests)
                .div_ceil(WARM_REQUESTS_PER_SECOND)
                .max(LEAST_SECONDS.into())
        }),
        Point::Throughput { .. } => sweeps.throughput.as_ref().map_or(0, |sweep| {
            let calibration = if calibrates(trial) {
                CALIBRATION_SECONDS
            } else {
                0
            };
            u64::from(sweep.duration_seconds) + u64::from(sweep.warmup_seconds) + calibration
        }),
        Point::Scout => u64::from(SCOUT_SECONDS + IDLE_SECONDS) + peaks_seconds(run, trial),
        Point::OpenLoop { .. } => sweeps.open_loop.as_ref().map_or(0, |sweep| {
            u64::from(sweep.duration_seconds + sweep.warmup_seconds)
        }),
        Point::Capacity => sweeps.open_loop.as_ref().map_or(0, |sweep| {
            let rungs = stated_rungs(run).unwrap_or_else(|| ladder::around(ASSUMED_PEAK_RPS));
            u64::from(ladder_seconds(sweep, &rungs) + sweep.warmup_seconds)
        }),
        Point::Payload => sweeps.payload.as_ref().map_or(0, |sweep| {
            payload::seconds(sweep).into_iter().map(u64::from).sum()
        }),
    };
    load + OVERHEAD_SECONDS
}

/// Seconds that the scout `trial` measures peaks.
fn peaks_seconds(run: &ValidatedRun, trial: &TrialId) -> u64 {
    let sweep = run.spec.sweeps.open_loop.as_ref();
    sweep
        .filter(|_| finds_peaks(run, trial))
        .map_or(0, |sweep| {
            let workloads = u64::try_from(run.workloads(trial).len()).unwrap_or_default();
            workloads * u64::from(sweep.warmup_seconds + sweep.peak_seconds)
        })
}

/// Seconds for which work that can wait does so after the probe of `trial` was started: until the probe has
/// probably ended.
pub fn quiet_seconds(run: &ValidatedRun, trial: &TrialId) -> u64 {
    (expected_trial_seconds(run, trial) + QUIET_MARGIN_SECONDS).min(QUIET_MAXIMUM_SECONDS)
}

/// Seconds that a run will probably take until its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    /// For the trials without a record in the blocks that are planned so far.
    pub least: u64,
    /// The same, including all blocks that precision may add.
    pub most: u64,
}

/// The time left of a run whose first trial began `elapsed_seconds` ago.
pub fn remaining(run: &ValidatedRun, seen: &Observed, elapsed_seconds: u64) -> Remaining {
    let expected = |trials: &[TrialId], counts: fn(Option<&Ended>) -> bool| -> u64 {
        trials
            .iter()
            .filter(|trial| counts(seen.records.get(trial)))
            .map(|trial| expected_trial_seconds(run, trial))
            .sum()
    };
    // Skipped trials took no time.
    let ran = |ended: Option<&Ended>| {
        ended.is_some_and(|ended| matches!(ended, Ended::Measured | Ended::Failed(_)))
    };
    let pace = pace(expected(&run.order, ran), elapsed_seconds);
    let seconds = |trials: &[TrialId]| scaled(expected(trials, |ended| ended.is_none()), pace);
    Remaining {
        least: seconds(run.planned(seen.blocks)),
        most: seconds(&run.order),
    }
}

/// How much longer trials took than the seconds that were expected of them.
fn pace(expected: u64, elapsed: u64) -> f64 {
    if expected == 0 {
        return 1.0;
    }
    let pace = (elapsed + PACE_PRIOR_SECONDS) as f64 / (expected + PACE_PRIOR_SECONDS) as f64;
    if PACES.contains(&pace) { pace } else { 1.0 }
}

fn scaled(seconds: u64, pace: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and the cast saturates"
    )]
    let scaled = (seconds as f64 * pace).round() as u64;
    scaled
}

#[cfg(test)]
mod tests {
    use wasmbench_api::BenchmarkRun;
    use wasmbench_model::images::Images;

    use super::*;
    use crate::config::OperatorConfig;
    use crate::validate::validate;

    fn run(sweeps: &serde_json::Value) -> ValidatedRun {
        let spec = serde_json::json!({
            "blocks": 2, "noiseFloor": false, "sweeps": sweeps,
            "variants": [{"name": "one", "preset": "native"}], "workloads": [{"name": "hello"}],
        });
        let run = BenchmarkRun::new("run", serde_json::from_value(spec).unwrap());
        let config = serde_json::json!({
            "operatorNamespace": "wasmbench", "coldStartServiceAccount": "cold",
            "images": Images::in_registry("example.com", "1"),
        });
        let config: OperatorConfig = serde_json::from_value(config).unwrap();
        validate(&run, &config).unwrap()
    }

    /// Expected seconds of the only cell, block by block.
    fn seconds(sweeps: &serde_json::Value) -> Vec<u64> {
        let run = run(sweeps);
        let trials = run.order.iter().filter(|trial| !trial.is_scout());
        trials
            .map(|trial| expected_trial_seconds(&run, trial))
            .collect()
    }

    #[test]
    fn the_first_block_of_a_throughput_sweep_measures_the_generator_too() {
        let sweeps = serde_json::json!({
            "throughput": {"connections": [10], "durationSeconds": 10, "warmupSeconds": 3},
        });
        assert_eq!(seconds(&sweeps), [10 + 3 + 2 + 1, 10 + 3 + 2]);
    }

    #[test]
    fn other_sweeps_do_not_load_the_generator_to_its_ceiling() {
        let warm = serde_json::json!({"warmLatency": {"requests": 900, "warmupRequests": 100}});
        assert_eq!(seconds(&warm), [2 + 2, 2 + 2]);
        let open = serde_json::json!({"openLoop": {
            "rates": [50], "durationSeconds": 10, "warmupSeconds": 3,
        }});
        assert_eq!(seconds(&open), [10 + 3 + 2, 10 + 3 + 2]);
    }

    #[test]
    fn a_payload_trial_warms_up_and_loads_with_every_size() {
        let sweeps = serde_json::json!({"payload": {
            "bytes": [0, 1024, 65_536], "durationSeconds": 3, "warmupSeconds": 1,
        }});
        assert_eq!(seconds(&sweeps), [9 + 3 + 2, 9 + 3 + 2]);
    }

    #[test]
    fn the_baselines_scout_alone_measures_a_peak_and_only_for_shares_of_it() {
        let scout_seconds = |rates: &serde_json::Value| {
            let mut open = serde_json::json!({"warmupSeconds": 3, "peakSeconds": 4});
            open.as_object_mut()
                .unwrap()
                .extend(rates.as_object().unwrap().clone());
            let run = run(&serde_json::json!({"openLoop": open}));
            expected_trial_seconds(&run, &run.order[0])
        };
        assert_eq!(
            scout_seconds(&serde_json::json!({"rates": [50]})),
            1 + 1 + 2
        );
        assert_eq!(scout_seconds(&serde_json::json!({})), 1 + 1 + 2 + 3 + 4);
    }

    /// Seconds of a run of four variants without a twin and ten blocks.
    fn of_four_variants(open_loop: &serde_json::Value) -> u64 {
        let run = run(&serde_json::json!({"openLoop": open_loop}));
        let mut trials = run.order.iter().filter(|trial| !trial.is_scout());
        4 * 10 * expected_trial_seconds(&run, trials.next().unwrap())
    }

    #[test]
    fn eight_rates_ten_blocks_and_four_variants_take_about_an_hour() {
        let unknown = of_four_variants(&serde_json::json!({
            "target": {"p99": "50ms"}, "durationSeconds": 5,
        }));
        assert!((3300..4400).contains(&unknown), "{unknown}");
        let stated = of_four_variants(&serde_json::json!({
            "target": {"p99": "50ms"}, "rates": [200, 250, 300, 350, 400, 450, 500, 550],
        }));
        assert_eq!(stated, 4 * 10 * (8 * 10 + 4 * 10 + 5 + 2));
    }

    #[test]
    fn a_rung_with_few_requests_takes_until_it_has_a_thousand() {
        let slow = of_four_variants(&serde_json::json!({
            "target": {"p99": "50ms"}, "rates": [10, 20],
        }));
        assert_eq!(slow, 4 * 10 * (105 + 53 + 4 * 53 + 5 + 2));
    }

    #[test]
    fn a_scout_takes_a_few_seconds_and_comes_first() {
        let run = run(&serde_json::json!({"warmLatency": {}}));
        assert!(run.order[0].is_scout());
        assert_eq!(expected_trial_seconds(&run, &run.order[0]), 1 + 1 + 2);
        assert_eq!(remaining(&run, &Observed::default(), 0).least, 4 + 10);
    }

    /// The time left after the first of two trials of 5 s each ended `elapsed` seconds after the
    /// run began.
    fn left_after(elapsed: u64, ended: Ended) -> u64 {
        let run = run(&serde_json::json!({"warmLatency": {}}));
        let mut seen = Observed::default();
        let (scout, first) = (run.order[0].clone(), run.order[1].clone());
        seen.records
            .insert(scout, Ended::Skipped("NotAllowed".into()));
        assert_eq!(remaining(&run, &seen, 1000).least, 10);
        seen.records.insert(first, ended);
        remaining(&run, &seen, elapsed).least
    }

    #[test]
    fn recorded_trials_take_no_more_time() {
        assert_eq!(left_after(5, Ended::Measured), 5);
    }

    #[test]
    fn the_time_left_follows_the_pace_so_far() {
        assert_eq!(left_after(40, Ended::Measured), 10);
        assert_eq!(left_after(0, Ended::Skipped("NotAllowed".into())), 5);
    }

    #[test]
    fn a_run_that_was_suspended_is_not_slow_for_the_rest_of_its_time() {
        assert_eq!(left_after(86_400, Ended::Measured), 5);
    }

    #[test]
    fn a_clock_set_back_does_not_make_a_run_look_fast() {
        let is_as_expected = |pace: f64| (pace - 1.0).abs() < 1e-9;
        assert!(is_as_expected(pace(600, 0)));
        assert!(!is_as_expected(pace(600, 900)));
    }
}
