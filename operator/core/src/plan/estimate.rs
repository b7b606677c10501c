//! How long a run will take. A guess for people, from the spec alone.

use super::{FLOOR_SAMPLES, has_floor};
use crate::observed::Observed;
use crate::validate::ValidatedRun;
use crate::wire::record::{Point, TrialId};

/// What a trial takes besides its load: two pods that start and go, on a small node.
const OVERHEAD_SECONDS: u64 = 2;
/// A warm-latency window is over before one looks; services slower than 1 ms take longer.
const WARM_REQUESTS_PER_SECOND: u64 = 500;

/// A pod of a cold start comes and goes in about two seconds on a small node.
const SAMPLE_SECONDS: u64 = 2;

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
        Point::WarmLatency => sweeps.warm_latency.map_or(0, |sweep| {
            u64::from(sweep.requests + sweep.warmup_requests).div_ceil(WARM_REQUESTS_PER_SECOND)
        }),
        Point::Throughput { .. } => sweeps.throughput.as_ref().map_or(0, |sweep| {
            u64::from(sweep.duration_seconds) + u64::from(sweep.warmup_seconds)
        }),
    };
    load + OVERHEAD_SECONDS
}

/// Seconds that the trials without a record will probably take.
pub fn remaining_seconds(run: &ValidatedRun, seen: &Observed) -> u64 {
    run.order
        .iter()
        .filter(|trial| !seen.records.contains_key(trial))
        .map(|trial| expected_trial_seconds(run, trial))
        .sum()
}
