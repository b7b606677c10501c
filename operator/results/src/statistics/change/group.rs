//! Runs of one stratum before and after a place in the history.

use crate::statistics::change::entry::Entry;

/// Runs of one stratum, one or more on each side.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) before: Vec<f64>,
    pub(super) after: Vec<f64>,
    /// Variance of the difference of both means, by the runs' own errors.
    pub(super) own_variance: f64,
}

impl Group {
    pub(super) fn new(stratum: usize, before: &[Entry], after: &[Entry]) -> Self {
        let (before, error_before) = side(stratum, before);
        let (after, error_after) = side(stratum, after);
        Self {
            before,
            after,
            own_variance: error_before + error_after,
        }
    }

    pub(super) fn pairs(&self) -> usize {
        self.before.len() * self.after.len()
    }

    /// How much this stratum counts, as an effective number of runs: the number on one side if there
    /// are very many on the other.
    pub(super) fn weight(&self) -> f64 {
        self.pairs() as f64 / (self.before.len() + self.after.len()) as f64
    }
}

/// The numbers of one stratum, and the variance of their mean by the runs' own errors.
pub(super) fn side(stratum: usize, runs: &[Entry]) -> (Vec<f64>, f64) {
    let of_stratum = || runs.iter().filter(|run| run.stratum == stratum);
    let numbers: Vec<f64> = of_stratum().map(|run| run.number).collect();
    let squares: f64 = of_stratum().map(|run| run.error * run.error).sum();
    let count = numbers.len().max(1) as f64;
    (numbers, squares / (count * count))
}
