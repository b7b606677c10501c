//! How far a run lies from others, and how large a difference such runs find. Each constructor stands
//! with the rule for its samples: two runs, or a run and its history.

use crate::statistics::ratio::found_by;
use crate::statistics::{Interval, student};

/// The difference of a run from one or several others, on the [`Scale`](crate::statistics::Scale)
/// on which they are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// The difference with its interval.
    pub interval: Interval,
    /// The standard error; `None` where a side shows no spread.
    error: Option<f64>,
    freedom: u32,
}

impl Contrast {
    pub(super) fn new(estimate: f64, error: Option<f64>, freedom: u32) -> Self {
        Self {
            interval: Interval::with_error(estimate, error, freedom),
            error,
            freedom,
        }
    }

    /// The smallest difference that 80 of 100 such runs find, on the scale, if it is the only one
    /// among `among` comparisons: its p-value has to be significant among theirs, and its estimate
    /// must reach `matters`.
    pub fn smallest_found(&self, among: usize, matters: f64) -> Option<f64> {
        let error = self.error?;
        let half_width = |level: f64| error * student::quantile(level, self.freedom);
        Some(found_by(half_width, among, matters))
    }
}
