//! A run compared with other runs of the same thing, by how far runs scatter ([`BetweenRuns`]).

use crate::statistics::between_runs::{BetweenRuns, OfRun, mean};
use crate::statistics::{Contrast, Estimated};

impl Contrast {
    /// `value`, what one run shows, compared with what earlier runs do: the prediction interval for
    /// one more run (a random effect per run, estimated from the scatter of their trimmed means), and
    /// the number of earlier runs. `None` with fewer than
    /// [`FEWEST_RUNS`](crate::statistics::FEWEST_RUNS) of these.
    pub fn among(value: &Estimated, earlier: &[Estimated]) -> Option<(Self, u32)> {
        let value = value.as_run();
        let runs: Vec<OfRun> = earlier.iter().map(Estimated::as_run).collect();
        let between = BetweenRuns::from_groups(std::slice::from_ref(&runs))?;
        let variance = between.variance_of_mean(runs.len()) + between.variance_of(value);
        let estimate = value.estimate - mean(&runs);
        let contrast = Self::new(estimate, Some(variance.sqrt()), between.freedom);
        Some((contrast, between.runs))
    }

    /// `value`, what one run shows, compared with `base`, what another run does; other runs of the
    /// same thing show how far runs scatter.
    pub fn from_two_runs(value: &Estimated, base: &Estimated, between: &BetweenRuns) -> Self {
        let (value, base) = (value.as_run(), base.as_run());
        let variance = between.variance_of(value) + between.variance_of(base);
        let estimate = value.estimate - base.estimate;
        Self::new(estimate, Some(variance.sqrt()), between.freedom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::{Interval, LEVEL, Scale};

    fn estimated(trials: &[f64]) -> Estimated {
        Estimated::from_values(trials, Scale::Ratio).unwrap()
    }

    fn among(value: &[f64], earlier: &[&[f64]]) -> Option<(Interval, u32)> {
        let earlier: Vec<Estimated> = earlier.iter().map(|run| estimated(run)).collect();
        let found = Contrast::among(&estimated(value), &earlier);
        found.map(|(found, runs)| (found.interval, runs))
    }

    /// Runs of a single trial each. Their logarithms are -0.02, -0.01, 0, 0.01, 0.02, with a
    /// variance of 0.00025.
    fn five_runs() -> [[f64; 1]; 5] {
        [-0.02_f64, -0.01, 0.0, 0.01, 0.02].map(|log| [log.exp()])
    }

    /// The variance of one more run about the mean of five is six fifths of the variance of a run.
    #[test]
    fn one_more_run_is_expected_where_earlier_ones_were() {
        let earlier = five_runs();
        let runs: Vec<&[f64]> = earlier.iter().map(<[f64; 1]>::as_slice).collect();
        let (found, earlier_runs) = among(&[0.1_f64.exp()], &runs).unwrap();
        assert_eq!(earlier_runs, 5);
        assert!((found.estimate - 0.1).abs() < 1e-12, "{found:?}");
        let half = 2.776_445 * (0.000_25_f64 * 1.2).sqrt();
        assert!((found.half_width.unwrap() - half).abs() < 1e-6, "{found:?}");
        assert!(found.p_value < LEVEL);
        assert_eq!(among(&[1.0], &runs[..4]), None);
    }

    /// The variances add up: 0.00025 between runs, and 0.02 squared within the run.
    #[test]
    fn the_error_of_a_short_run_adds_to_what_runs_scatter_by() {
        let earlier = five_runs();
        let runs: Vec<&[f64]> = earlier.iter().map(<[f64; 1]>::as_slice).collect();
        let short = [0.02_f64.exp(), (-0.02_f64).exp()];
        let (found, _) = among(&short, &runs).unwrap();
        let half = 2.776_445 * (0.000_25_f64 * 1.2 + 0.000_4).sqrt();
        assert!((found.half_width.unwrap() - half).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_run_that_scatters_more_than_earlier_ones_counts_by_its_own_scatter() {
        let runs: [&[f64]; 5] = [&[1.0]; 5];
        let (calm, _) = among(&[1.1, 1.1], &runs).unwrap();
        let (wild, _) = among(&[0.6, 2.0], &runs).unwrap();
        assert_eq!((calm.p_value, wild.p_value > 0.5), (0.0, true), "{wild:?}");
    }

    /// Two runs differ by the scatter of both, with as many degrees of freedom as the others have.
    #[test]
    fn two_runs_are_judged_by_how_far_others_scatter() {
        let runs = five_runs().map(|run| OfRun {
            estimate: libm::log(run[0]),
            error: None,
        });
        let between = BetweenRuns::from_groups(&[runs.to_vec()]).unwrap();
        let [value, base] = [0.1_f64.exp(), 1.0].map(|trial| estimated(&[trial]));
        let found = Contrast::from_two_runs(&value, &base, &between).interval;
        let half = 2.776_445 * (0.000_25_f64 * 2.0).sqrt();
        assert!((found.estimate - 0.1).abs() < 1e-12, "{found:?}");
        assert!((found.half_width.unwrap() - half).abs() < 1e-6, "{found:?}");
    }
}
