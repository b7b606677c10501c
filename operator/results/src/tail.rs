//! The far tail of a point. A p99.9 needs more requests than most trials have, and all of them together carry it:
//! their histograms are merged. It describes; comparisons go by trials, which are independent.

use wasmbench_core::rounding::round_time;

use crate::histogram::{Histogram, Merged};
use crate::trial::{Trial, TrialState, carries};

/// The 99.9th percentile over the requests of all valid trials, in microseconds; none where too few lie beyond it.
pub fn p999(trials: &[Trial]) -> Option<f64> {
    let is_valid = |trial: &&Trial| trial.state == TrialState::Valid;
    let valid = trials.iter().filter(is_valid);
    let histograms: Vec<&Histogram> = valid.map(|trial| &trial.metrics.latency).collect();
    let all = Merged(&histograms);
    let value = all
        .percentile(0.999)
        .filter(|_| carries(all.count(), 1000))?;
    Some(round_time(value))
}
