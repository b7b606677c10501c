//! A run among earlier runs of the same thing. Runs differ by more than their trials tell: the node booted
//! anew, other memory was free, another day's neighbours. How much is known from several of them alone.

use crate::statistics::unpaired::{Sample, square};
use crate::statistics::{Interval, LEVEL, ratio::p_value, student};

/// Fewest earlier runs that tell how far runs scatter. With five the interval is 1.6 times as wide as with
/// very many; with three it would be 2.5 times.
pub const FEWEST_RUNS: usize = 5;

impl Interval {
    /// `value`, the numbers of one run, as a multiple of what earlier runs had, a list of numbers each: the
    /// prediction interval for one more run (a random effect for each run, estimated by the scatter of
    /// their trimmed means). That scatter holds the error of each mean; a run that has a larger error than they, for it has fewer
    /// blocks or a noisier node, adds the rest. `None` below [`FEWEST_RUNS`] runs with numbers, and without a number in `value`.
    pub fn among(value: &[f64], earlier: &[&[f64]]) -> Option<Self> {
        let value = Sample::of(value)?;
        let runs = earlier.iter().filter_map(|run| Sample::of(run));
        let runs: Vec<Sample> = runs.collect();
        if runs.len() < FEWEST_RUNS {
            return None;
        }
        let count = runs.len() as f64;
        let mean = runs.iter().map(|run| run.estimate).sum::<f64>() / count;
        let squares = runs.iter().map(|run| square(run.estimate - mean));
        let between = squares.sum::<f64>() / (count - 1.0);
        let usual = runs
            .iter()
            .filter_map(|run| run.error)
            .map(square)
            .sum::<f64>()
            / count;
        let more = value
            .error
            .map_or(0.0, |error| (square(error) - usual).max(0.0));
        let own = between + more;
        let error = (between / count + own).sqrt();
        let freedom = u32::try_from(runs.len() - 1).unwrap_or(u32::MAX);
        let estimate = value.estimate - mean;
        Some(Self {
            estimate,
            half_width: Some(student::quantile(LEVEL, freedom) * error),
            p_value: p_value(estimate, error, freedom),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of a single trial each. Their logarithms are -0.02, -0.01, 0, 0.01, 0.02, with a variance of 0.00025.
    fn five_runs() -> [[f64; 1]; 5] {
        [-0.02_f64, -0.01, 0.0, 0.01, 0.02].map(|log| [log.exp()])
    }

    /// The variance of one more run about the mean of five is six fifths of theirs.
    #[test]
    fn one_more_run_is_expected_where_earlier_ones_were() {
        let runs = five_runs();
        let runs: Vec<&[f64]> = runs.iter().map(<[f64; 1]>::as_slice).collect();
        let found = Interval::among(&[0.1_f64.exp()], &runs).unwrap();
        assert!((found.estimate - 0.1).abs() < 1e-12, "{found:?}");
        let half = 2.776_445 * (0.000_25_f64 * 1.2).sqrt();
        assert!((found.half_width.unwrap() - half).abs() < 1e-6, "{found:?}");
        assert!(found.p_value < LEVEL);
        assert_eq!(Interval::among(&[1.0], &runs[..4]), None);
        assert_eq!(Interval::among(&[], &runs), None);
    }

    /// Their variances add: 0.00025 between runs, and 0.02 squared of the run's own.
    #[test]
    fn the_error_of_a_short_run_adds_to_what_runs_scatter_by() {
        let runs = five_runs();
        let runs: Vec<&[f64]> = runs.iter().map(<[f64; 1]>::as_slice).collect();
        let short = [0.02_f64.exp(), (-0.02_f64).exp()];
        let found = Interval::among(&short, &runs).unwrap();
        let half = 2.776_445 * (0.000_25_f64 * 1.2 + 0.000_4).sqrt();
        assert!((found.half_width.unwrap() - half).abs() < 1e-6, "{found:?}");
    }

    #[test]
    fn a_run_that_scatters_more_than_earlier_ones_counts_by_its_own_scatter() {
        let runs: [&[f64]; 5] = [&[1.0]; 5];
        let calm = Interval::among(&[1.1, 1.1], &runs).unwrap();
        let wild = Interval::among(&[0.6, 2.0], &runs).unwrap();
        assert_eq!((calm.p_value, wild.p_value > 0.5), (0.0, true), "{wild:?}");
    }
}
