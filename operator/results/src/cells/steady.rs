//! Whether a load was steady within its windows, and where its scatter comes from. A window
//! consists of several consecutive runs of the generator: their rates show whether a subject still becomes
//! faster, and how much of the scatter is between pods.

use crate::read::trial::{Trial, valid};
use crate::statistics::{Interval, mean};

/// The fewest trials for a trend or a scatter.
const FEWEST: usize = 3;

/// How much faster the second half of the windows is than the first, as a logarithm, over the valid
/// trials; `None` if fewer than three have this ratio.
pub fn trend(trials: &[Trial]) -> Option<Interval> {
    let ratios: Vec<f64> = valid(trials)
        .filter_map(|trial| halves(&trial.metrics.rates))
        .collect();
    (ratios.len() >= FEWEST).then(|| Interval::from_ratios(&ratios))?
}

/// Whether the trend is certainly larger than half of the minimum effect: the mean of a window is
/// then off by at least a quarter of it, and another variant's need not be.
pub fn moves(trend: &Interval, minimum_effect: f64) -> bool {
    trend
        .half_width
        .is_some_and(|half_width| trend.estimate.abs() - half_width > minimum_effect / 2.0)
}

/// The second half as a multiple of the first; `None` for a window in one part.
fn halves(rates: &[f64]) -> Option<f64> {
    let (first, second) = rates.split_at(rates.len() / 2);
    let is_known = !first.is_empty() && rates.iter().all(|rate| *rate > 0.0);
    is_known.then(|| mean(second) / mean(first))
}

/// Standard deviations of rates, as logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// Scatter from pod to pod, which longer windows do not reduce.
    pub between_pods: f64,
    /// Scatter from one whole window to the next of the same pod, which both more pods and longer
    /// windows reduce.
    pub within_pods: f64,
}

/// Where the scatter of trials comes from: that of the means of windows, and that of the parts
/// within each; `None` if fewer than three windows have several parts.
pub fn scatter(trials: &[Trial]) -> Option<Scatter> {
    let logs = |trial: &Trial| -> Option<Vec<f64>> {
        let rates = &trial.metrics.rates;
        let is_known = rates.len() > 1 && rates.iter().all(|rate| *rate > 0.0);
        is_known.then(|| rates.iter().copied().map(libm::log).collect())
    };
    let pods: Vec<Vec<f64>> = valid(trials).filter_map(logs).collect();
    let means: Vec<f64> = pods.iter().map(|parts| mean(parts)).collect();
    if means.len() < FEWEST {
        return None;
    }
    let of_parts: Vec<f64> = pods.iter().map(|parts| variance(parts)).collect();
    let parts = pods.iter().map(Vec::len).min()?;
    let within = mean(&of_parts) / parts as f64;
    Some(Scatter {
        between_pods: (variance(&means) - within).max(0.0).sqrt(),
        within_pods: within.sqrt(),
    })
}

/// The unbiased variance of two values or more.
fn variance(values: &[f64]) -> f64 {
    let middle = mean(values);
    let squares = values.iter().map(|value| (value - middle).powi(2));
    squares.sum::<f64>() / (values.len() - 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::trial::{Metrics, TrialState};

    fn trials(rates: &[[f64; 4]]) -> Vec<Trial> {
        let one = |(block, rates): (u32, &[f64; 4])| Trial {
            block,
            position: block,
            state: TrialState::Valid,
            reason: None,
            metrics: Metrics {
                rates: rates.to_vec(),
                ..Metrics::default()
            },
        };
        (1..).zip(rates).map(one).collect()
    }

    #[test]
    fn a_window_whose_first_quarter_is_slow_is_not_steady() {
        let slow = [70.0, 100.0, 101.0, 99.0];
        let trend = trend(&trials(&[slow, slow.map(|rate| rate * 1.02), slow])).unwrap();
        assert!((trend.estimate - libm::log(200.0 / 170.0)).abs() < 1e-9);
        assert!(moves(&trend, 0.05));
        assert!(!moves(&trend, 0.5), "less than half of what matters");
    }

    #[test]
    fn windows_in_one_part_or_too_few_windows_are_not_judged() {
        let steady = [100.0; 4];
        assert_eq!(trend(&trials(&[steady, steady])), None);
        let mut whole = trials(&[steady, steady, steady]);
        for trial in &mut whole {
            trial.metrics.rates.truncate(1);
        }
        assert_eq!(trend(&whole), None);
        assert_eq!(scatter(&whole), None);
    }

    #[test]
    fn scatter_between_pods_is_distinguished_from_scatter_within_them() {
        let flat = |rate: f64| [rate; 4];
        let found = scatter(&trials(&[flat(90.0), flat(100.0), flat(110.0)])).unwrap();
        assert!(
            found.between_pods > 0.09 && found.within_pods == 0.0,
            "{found:?}"
        );
        let restless = [80.0, 120.0, 120.0, 80.0];
        let found = scatter(&trials(&[restless; 3])).unwrap();
        assert!(
            found.within_pods > 0.1 && found.between_pods == 0.0,
            "{found:?}"
        );
    }
}
