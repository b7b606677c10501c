//! Are two groups of pods distinguished from one, and what do intervals cover when there are two?

use wasmbench_results::statistics::Interval;
use wasmbench_results::statistics::modes::two_modes;

use crate::synthetic::{Chance, every_noise, print_figure};

const RUNS: u32 = 2000;

fn share(mut holds: impl FnMut() -> bool) -> f64 {
    f64::from((0..RUNS).map(|_| u32::from(holds())).sum::<u32>()) / f64::from(RUNS)
}

#[test]
fn at_most_2_in_100_runs_call_one_group_of_pods_two() {
    for noise in every_noise(0.05) {
        for blocks in [8, 10, 20, 50] {
            let mut chance = Chance::new(47);
            let found = share(|| {
                let trial = |block| {
                    chance.trial(
                        noise,
                        f64::from(block) / f64::from(blocks),
                        1.0 / f64::from(blocks),
                    )
                };
                two_modes(&(0..blocks).map(trial).collect::<Vec<f64>>()).is_some()
            });
            let name = format!("one group of {blocks} pods called two, {noise:?}");
            print_figure(&name, found, "at most 2.5 %");
            assert!(found <= 0.025, "{noise:?}, {blocks}: {found}");
        }
    }
}

/// The logarithms of `blocks` trials, half of which belong to a group that takes a quarter longer.
fn of_two_groups(blocks: u32, chance: &mut Chance) -> Vec<f64> {
    let mut trial = || {
        let longer = if chance.uniform() < 0.5 { 0.22 } else { 0.0 };
        0.03 * chance.normal() + longer
    };
    (0..blocks).map(|_| trial()).collect()
}

#[test]
fn two_groups_a_quarter_apart_are_found_in_most_runs() {
    for (blocks, least) in [(10, 0.60), (20, 0.90)] {
        let mut chance = Chance::new(53);
        let found = share(|| two_modes(&of_two_groups(blocks, &mut chance)).is_some());
        let expected = format!("at least {:.0} %", least * 100.0);
        print_figure(
            &format!("two groups of {blocks} pods found"),
            found,
            &expected,
        );
        assert!(found >= least, "{blocks}: {found}");
    }
}

/// Noise only on the variant's side, which pairing cannot cancel. The estimate is the typical
/// ratio, that of the geometric means.
#[test]
fn an_interval_over_two_groups_covers_the_typical_ratio() {
    for blocks in [10, 20] {
        let mut chance = Chance::new(59);
        let held = share(|| {
            let ratios: Vec<f64> = of_two_groups(blocks, &mut chance)
                .into_iter()
                .map(|log| (log - 0.03 * chance.normal()).exp())
                .collect();
            let found = Interval::from_ratios(&ratios).expect("ratios");
            (found.estimate - 0.11).abs() <= found.half_width.expect("several blocks")
        });
        let name =
            format!("intervals over two groups that hold the typical ratio, {blocks} blocks");
        print_figure(&name, held, "at least 90 %");
        assert!(held >= 0.90, "{blocks}: {held}");
    }
}
