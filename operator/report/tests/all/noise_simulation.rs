//! What a noisy node does to comparisons that keep its trials. This is why noise leaves nothing
//! out, and why more than one noisy trial in five is not trusted.

use wasmbench_results::statistics::Interval;

use crate::synthetic::{Chance, Noise, print_figure};

const BLOCKS: u32 = 10;
const RUNS: u32 = 3000;

/// The share of runs of equals whose interval misses 1, where a neighbour makes the given shares of
/// each side's trials longer by up to a third.
fn missed(base: f64, variant: f64) -> f64 {
    let mut chance = Chance::new(43);
    let mut trial = |noisy: f64| {
        let hit = if chance.uniform() < noisy {
            0.3 * chance.uniform()
        } else {
            0.0
        };
        chance.trial(Noise::Normal(0.03), 0.0, 0.0) + hit
    };
    let runs = (0..RUNS).filter(|_| {
        let ratios: Vec<f64> = (0..BLOCKS)
            .map(|_| (trial(variant) - trial(base)).exp())
            .collect();
        Interval::from_ratios(&ratios).expect("ratios").p_value <= 0.05
    });
    runs.count() as f64 / f64::from(RUNS)
}

#[test]
fn noise_that_hits_trials_at_random_widens_intervals_and_shifts_none() {
    for share in [0.2, 0.5, 0.8] {
        let missed = missed(share, share);
        let percent = share * 100.0;
        let name = format!("false positives among equals, {percent:.0} % of all trials noisy");
        print_figure(&name, missed, "at most 6 %");
        assert!(missed <= 0.06, "{share}: {missed}");
    }
}

#[test]
fn noise_of_a_variants_own_making_misleads_beyond_one_trial_in_five() {
    for (share, least, most, expected) in [
        (0.1, 0.0, 0.07, "at most 7 %"),
        (0.2, 0.0, 0.07, "at most 7 %"),
        (0.5, 0.15, 1.0, "more than 15 %: here trust is withheld"),
    ] {
        let missed = missed(0.0, share);
        let percent = share * 100.0;
        let name =
            format!("false positives among equals, {percent:.0} % of one side's trials noisy");
        print_figure(&name, missed, expected);
        assert!((least..=most).contains(&missed), "{share}: {missed}");
    }
}
