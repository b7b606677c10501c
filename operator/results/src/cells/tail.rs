//! The far tail of a point. A p99.9 needs more requests than most trials have, so the histograms of
//! all trials are merged. It only describes: comparisons use trials, which are independent.

use wasmbench_model::rounding::round_time;

use crate::read::histogram::{Histogram, Merged};
use crate::read::trial::{Trial, carries, valid};

/// The 99.9th percentile over the requests of all valid trials, in microseconds; `None` if too few
/// requests lie beyond it.
pub fn p999(trials: &[Trial]) -> Option<f64> {
    let histograms: Vec<&Histogram> = valid(trials).map(|trial| &trial.metrics.latency).collect();
    let all = Merged(&histograms);
    let value = all
        .percentile(0.999)
        .filter(|_| carries(all.count(), 1000))?;
    Some(round_time(value))
}
