//! The statistics that results are made of. Pure functions over plain numbers, own code on purpose:
//! they are what this project exists for, and each fits on a page.
//!
//! [`spread`]: what one variant does (median over trials). [`range`]: the same of trials of several
//! points. [`ratio`]: how it compares with the baseline (paired within blocks). [`unpaired`]: how
//! it compares with what it was in another run, and [`history`] in many; [`between_runs`]: how far
//! those scatter. [`student`]: the distribution behind the ratio's interval. [`change`]: since when
//! it is different, over many runs of a schedule. [`false_discovery`]: what many comparisons do to
//! a level. Why these and no others, with the simulations that decided it:
//! docs/adr/0006-trimmed-log-ratios.md.
//!
//! Logarithms and the like come from `libm` and not from the platform, because a report that is
//! computed again must be the same to the last byte, wherever that is done.

mod between_runs;
pub mod change;
pub mod false_discovery;
mod history;
pub mod modes;
pub mod range;
pub mod ratio;
pub mod spread;
mod student;
mod unpaired;

pub use between_runs::{BetweenRuns, FEWEST_RUNS, OfRun};
pub use range::Range;
pub use ratio::{Interval, paired_ratios};
pub use spread::{Spread, median};
pub use wasmbench_core::rounding::P_DIGITS;
pub use wasmbench_core::rounding::round_significant;

/// The level of all intervals, as the share of cases in which they miss the truth.
pub const LEVEL: f64 = 0.05;

/// The finite ones of `values` in rising order.
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

/// The mean, of one value or more.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
