//! Do intervals of differences keep their promise? Starts and failures are judged by them.

use wasmbench_results::statistics::Interval;

use crate::synthetic::{Chance, Noise, every_noise, print_figure};

/// The interval of the differences of `blocks` blocks.
fn found(blocks: u32, difference: impl FnMut(u32) -> f64) -> Interval {
    let differences: Vec<f64> = (0..blocks).map(difference).collect();
    Interval::from_differences(&differences).expect("differences")
}

/// The start time of a variant in milliseconds, given how many times as long as usual it takes.
type Start = fn(f64) -> f64;

/// The baseline's pods typically start in 300 ms, and the variants' pods 50 ms later.
const STARTS: [(&str, Start); 2] = [
    ("50 ms more in each start", |longer| 300.0 * longer + 50.0),
    ("a sixth more of each start", |longer| 350.0 * longer),
];

/// The share of 95 % intervals that contain the difference of typical pods, 50 ms.
fn coverage(noise: Noise, blocks: u32, start: Start) -> f64 {
    const RUNS: u32 = 3000;
    let mut chance = Chance::new(u64::from(blocks));
    let mut longer = || chance.trial(noise, 0.0, 0.0).exp();
    let holds = |_: &u32| {
        let interval = found(blocks, |_| start(longer()) - 300.0 * longer());
        (interval.estimate - 50.0).abs() <= interval.half_width.expect("several blocks")
    };
    (0..RUNS).filter(holds).count() as f64 / f64::from(RUNS)
}

#[test]
fn intervals_of_starts_contain_the_difference_of_typical_pods() {
    let [normal, _, outliers, heavy] = every_noise(0.05);
    for (what, start) in STARTS {
        for noise in [normal, outliers, heavy] {
            for blocks in [5, 10, 20] {
                let share = coverage(noise, blocks, start);
                let name = format!("differences that hold {what}, {noise:?}, {blocks} blocks");
                print_figure(&name, share, "at least 93 %");
                assert!(share >= 0.93, "{name}: {share}");
            }
        }
    }
}

/// A random number of rare events with expectation `mean` (Knuth).
fn poisson(mean: f64, chance: &mut Chance) -> u32 {
    let least = (-mean).exp();
    let (mut events, mut product) = (0, chance.uniform());
    while product > least {
        product *= chance.uniform();
        events += 1;
    }
    events
}

/// Nothing about such counts is normal: most differences are zero or one request in 10,000.
#[test]
fn equal_variants_that_rarely_fail_rarely_give_false_positives() {
    const RUNS: u32 = 4000;
    for blocks in [5, 10] {
        let mut chance = Chance::new(47);
        let mut share = || f64::from(10_000 - poisson(1.0, &mut chance)) / 10_000.0;
        let differs = |_: &u32| found(blocks, |_| share() - share()).p_value <= 0.05;
        let alarms = (0..RUNS).filter(differs).count() as f64 / f64::from(RUNS);
        let name = format!("false positives by one failed request in 10,000, {blocks} blocks");
        print_figure(&name, alarms, "at most 7 %");
        assert!(alarms <= 0.07, "{name}: {alarms}");
    }
}
