//! How far runs of the same thing differ beyond what their own trials show: the node was rebooted,
//! other memory was free, other neighbours were active. Only several runs can show this.

use crate::statistics::square;

/// The fewest runs that show how far runs scatter. With five, the interval for one more run is 1.6
/// times as wide as with very many; with three it would be 2.5 times as wide.
pub const FEWEST_RUNS: usize = 5;

/// The number of one run, on the scale on which runs are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfRun {
    /// The estimate of the run.
    pub estimate: f64,
    /// The standard error that the run's own trials show, if they do.
    pub error: Option<f64>,
}

/// The scatter of equal runs about their mean. It includes the error of each run's estimate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BetweenRuns {
    variance: f64,
    /// Mean square of the errors that the runs' own trials show.
    usual: f64,
    pub(super) freedom: u32,
    /// The number of runs behind the scatter.
    pub runs: u32,
}

impl BetweenRuns {
    /// The scatter of runs in groups, each about its own mean: those before a lasting change and
    /// those since. `None` with less information than from [`FEWEST_RUNS`] runs of one group.
    pub fn from_groups(groups: &[Vec<OfRun>]) -> Option<Self> {
        let groups = groups.iter().filter(|group| !group.is_empty());
        let (mut squares, mut errors, mut runs, mut means) = (0.0, 0.0, 0, 0);
        for group in groups {
            let mean = mean(group);
            squares += group
                .iter()
                .map(|run| square(run.estimate - mean))
                .sum::<f64>();
            let known = group.iter().filter_map(|run| run.error);
            errors += known.map(square).sum::<f64>();
            runs += group.len();
            means += 1;
        }
        let freedom = runs - means;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (freedom + 1 >= FEWEST_RUNS).then(|| Self {
            variance: squares / freedom as f64,
            usual: errors / runs as f64,
            freedom: count(freedom),
            runs: count(runs),
        })
    }

    /// Variance of the estimate of one such run; larger if the run has a larger error than usual,
    /// because it has fewer blocks or a noisier node.
    pub(super) fn variance_of(&self, run: OfRun) -> f64 {
        let more = run
            .error
            .map_or(0.0, |error| (square(error) - self.usual).max(0.0));
        self.variance + more
    }

    /// Variance of the mean of `count` such runs.
    pub(super) fn variance_of_mean(&self, count: usize) -> f64 {
        self.variance / count as f64
    }
}

pub(super) fn mean(runs: &[OfRun]) -> f64 {
    runs.iter().map(|run| run.estimate).sum::<f64>() / runs.len() as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn runs(estimates: &[f64]) -> Vec<OfRun> {
        let run = |estimate: &f64| OfRun {
            estimate: *estimate,
            error: None,
        };
        estimates.iter().map(run).collect()
    }

    #[test]
    fn four_runs_or_five_in_two_groups_are_too_few() {
        assert_eq!(
            BetweenRuns::from_groups(&[runs(&[0.0, 0.1, 0.2, 0.3])]),
            None
        );
        let two = [runs(&[0.0, 0.1, 0.2]), runs(&[1.0, 1.1])];
        assert_eq!(BetweenRuns::from_groups(&two), None);
        assert_eq!(BetweenRuns::from_groups(&[]), None);
        assert_eq!(BetweenRuns::from_groups(&[vec![], runs(&[1.0])]), None);
    }

    proptest! {
        #[test]
        fn a_change_between_two_groups_does_not_count_as_scatter(
            estimates in prop::collection::vec(-0.1..0.1, 6..20), change in -1.0..1.0
        ) {
            let (one, other) = estimates.split_at(3);
            let moved: Vec<f64> = other.iter().map(|estimate: &f64| *estimate + change).collect();
            let found = BetweenRuns::from_groups(&[runs(one), runs(&moved)]).unwrap();
            let still = BetweenRuns::from_groups(&[runs(one), runs(other)]).unwrap();
            prop_assert!((found.variance - still.variance).abs() < 1e-12);
            prop_assert_eq!(found.runs as usize, estimates.len());
        }
    }
}
