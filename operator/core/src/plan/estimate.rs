//! How long a trial will take, from the spec only: an estimate for people. It covers loads with their
//! warm-up, the load generator's ceiling in the first block, and the start and removal of pods.

use wasmbench_model::ladder;
use wasmbench_model::wire::record::{Point, TrialId};
use wasmbench_model::wire::request::{DEFAULT_REQUESTS, LEAST_SECONDS};
use wasmbench_model::wire::scout::IDLE_SECONDS;

use crate::build::cold_start_job::{FLOOR_SAMPLES, has_floor};
use crate::build::payload;
use crate::build::probe_job::{calibrates, ladder_seconds};
use crate::build::scout_job::finds_peaks;
use crate::plan::rate::stated_rungs;
use crate::validate::ValidatedRun;

/// Seconds that a trial takes besides its load: two pods start and go away, on a small node.
const OVERHEAD_SECONDS: u64 = 2;
/// A warm-latency window is short; on one connection, services slower than 2 ms take longer.
const WARM_REQUESTS_PER_SECOND: u64 = 500;
/// A cold-start pod comes and goes in about two seconds on a small node.
const SAMPLE_SECONDS: u64 = 2;
/// Each further pod that starts at the same time.
const FURTHER_POD_SECONDS: u64 = 1;
/// A density step: pods that come up together, a short load, and the wait for memory statistics. In
/// addition, each pod costs one second in total.
const STEP_SECONDS: u64 = 4;

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

/// Seconds that a trial will probably take.
pub fn expected_trial_seconds(run: &ValidatedRun, trial: &TrialId) -> u64 {
    let sweeps = &run.spec.sweeps;
    let load = match trial.cell.point {
        Point::ColdStart { concurrency } => {
            let floor = if has_floor(run, trial) {
                FLOOR_SAMPLES + 1
            } else {
                0
            };
            let sweep = sweeps.cold_start.as_ref();
            let samples = sweep.map_or(0, |sweep| sweep.samples + 1 + floor);
            let further_pods = u64::from(concurrency).saturating_sub(1);
            u64::from(samples) * (SAMPLE_SECONDS + further_pods * FURTHER_POD_SECONDS)
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
    fn pods_that_start_at_once_take_longer_than_one() {
        let sweep = |concurrency: u32| {
            let cold = serde_json::json!({"samples": 4, "concurrency": [concurrency]});
            seconds(&serde_json::json!({ "coldStart": cold }))
        };
        let (one, four) = (sweep(1), sweep(4));
        assert!(four[1] >= one[1] + 5 * 3, "{one:?} {four:?}");
    }

    #[test]
    fn a_scout_takes_a_few_seconds_and_comes_first() {
        let run = run(&serde_json::json!({"warmLatency": {}}));
        assert!(run.order[0].is_scout());
        assert_eq!(expected_trial_seconds(&run, &run.order[0]), 1 + 1 + 2);
    }
}
