//! Are windows that start slowly distinguished from windows that only scatter?

use wasmbench_results::cells::steady::{moves, trend};
use wasmbench_results::read::trial::{Metrics, Trial, TrialState};

use crate::synthetic::{Chance, print_figure};

const RUNS: u32 = 2000;
const BLOCKS: u32 = 10;
/// The smallest difference that matters, as a logarithm.
const EFFECT: f64 = 0.048_8;

/// A trial of four parts: its pod is off by 4 %, each part by 3 %.
fn trial(block: u32, shape: [f64; 4], chance: &mut Chance) -> Trial {
    let pod = 0.04 * chance.normal();
    let rate = |part: f64| part * libm::exp(pod + 0.03 * chance.normal());
    Trial {
        block,
        position: block,
        state: TrialState::Valid,
        reason: None,
        metrics: Metrics {
            rates: shape.map(rate).to_vec(),
            ..Metrics::default()
        },
    }
}

/// The share of runs in which windows of this shape are called unsteady.
fn share_called_unsteady(shape: [f64; 4]) -> f64 {
    let mut chance = Chance::new(71);
    let mut is_found = || {
        let trials: Vec<Trial> = (1..=BLOCKS).map(|b| trial(b, shape, &mut chance)).collect();
        moves(&trend(&trials).expect("a trend"), EFFECT)
    };
    let found: u32 = (0..RUNS).map(|_| u32::from(is_found())).sum();
    f64::from(found) / f64::from(RUNS)
}

#[test]
fn windows_that_only_scatter_are_rarely_called_unsteady() {
    // The second shape is off by half of what matters, which is the limit.
    let limit = libm::exp(-EFFECT / 2.0);
    for (shape, at_most) in [([1.0; 4], 0.01), ([limit, limit, 1.0, 1.0], 0.04)] {
        let found = share_called_unsteady(shape);
        let name = format!("windows of rates {shape:.3?} called unsteady");
        print_figure(&name, found, &format!("at most {:.0} %", at_most * 100.0));
        assert!(found <= at_most, "{shape:?}: {found}");
    }
}

#[test]
fn a_start_that_is_a_third_slower_is_found_in_nearly_all_runs() {
    let slow = 1.0 / 1.3;
    // The mean of the window is 6 and 12 % too low.
    for shape in [[slow, 1.0, 1.0, 1.0], [slow, slow, 1.0, 1.0]] {
        let bias = 100.0 * (1.0 - shape.iter().sum::<f64>() / 4.0);
        let found = share_called_unsteady(shape);
        let name = format!("windows off by {bias:.1} % called unsteady");
        print_figure(&name, found, "at least 99 %");
        assert!(found >= 0.99, "{shape:?}: {found}");
    }
}
