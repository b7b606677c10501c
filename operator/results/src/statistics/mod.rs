//! The statistics behind the results. Pure functions over plain numbers, written for this project
//! on purpose: they are what it exists for, and each fits on a page.
//!
//! [`spread`]: what one variant does (median over trials). [`range`]: the same for trials of
//! several points. [`ratio`]: how a variant compares with the baseline (paired within blocks).
//! [`bounded`]: the same where some blocks show only a bound.
//! [`unpaired`]: how it compares with itself in another run, and [`history`] in many, both as a
//! [`contrast`]; [`between_runs`]: how far those scatter. [`scale`]: by ratios or by differences.
//! [`trimmed`]: the mean that all of these estimate. [`student`]: the distribution behind the intervals.
//! [`change`]: since when a measure is different, over many runs of a schedule.
//! [`false_discovery`]: correction for many comparisons. [`modes`]: whether numbers fall into two
//! groups. [`order`]: whether they depend on the order of trials.
//! [`mod@line`]: a fixed cost and a cost per unit. Why these and no others, with the simulations behind the choice:
//! docs/adr/0006-trimmed-log-ratios.md.
//!
//! Logarithms and the like come from `libm` and not from the platform, because a report that is
//! computed again must be identical to the last byte on any machine.

mod between_runs;
pub mod bounded;
pub mod change;
mod contrast;
pub mod false_discovery;
mod history;
mod line;
pub mod modes;
pub mod order;
pub mod range;
pub mod ratio;
mod scale;
pub mod spread;
mod student;
mod trimmed;
mod unpaired;

pub use between_runs::{BetweenRuns, FEWEST_RUNS, OfRun};
pub use bounded::{Bounded, BoundedSpread, OneSided};
pub use contrast::Contrast;
pub use line::Line;
pub use range::Range;
pub use ratio::{Interval, paired_ratios};
pub use scale::Scale;
pub use spread::{Spread, median, median_with_larger};
pub use trimmed::Estimated;
pub use wasmbench_model::rounding::P_DIGITS;
pub use wasmbench_model::rounding::round_significant;

/// The level of all intervals, as the share of cases in which they miss the truth.
pub const LEVEL: f64 = 0.05;

/// The finite `values` in ascending order.
fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values
        .into_iter()
        .filter(|value| value.is_finite())
        .collect();
    values.sort_by(f64::total_cmp);
    values
}

fn square(value: f64) -> f64 {
    value * value
}

/// The mean of one value or more.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
