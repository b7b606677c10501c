//! Is it honest to continue until the intervals are narrow? Runs with a known truth that end when
//! `precision` allows it. The figures in docs/methodology/statistics.md come from here and from
//! longer runs of the same simulations.

use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::precision::{Ending, decide, widths};
use wasmbench_results::judge::verdict::{Thresholds, Verdict, judge};
use wasmbench_results::statistics::ratio::blocks_to_decide;
use wasmbench_results::statistics::{Interval, false_discovery};
use wasmbench_results::vocabulary::measure::Metric;

use crate::synthetic::{Chance, Noise, SyntheticRun, every_noise, primary, print_figure};

const TARGET: &str = "5%";
const FEWEST: u32 = 8;
const MOST: u32 = 50;
/// The first block after which a run is evaluated.
const FIRST: u32 = 5;
/// Runs for each kind of noise; the figures in docs/methodology/statistics.md are from 2000.
const RUNS: u32 = 500;

/// Adds blocks to a run until it is precise; `after` returns the comparisons of its first blocks.
fn end_of(target: &str, after: impl Fn(u32) -> Vec<Comparison>) -> (u32, Vec<Comparison>) {
    let mut looks: Vec<Vec<Comparison>> = (FIRST..FEWEST).map(&after).collect();
    for blocks in FEWEST..=MOST {
        looks.push(after(blocks));
        let latest: Vec<_> = looks
            .iter()
            .rev()
            .take(4)
            .map(|look| widths(look))
            .collect();
        let found = decide(target, blocks, MOST, &latest);
        if found.outcome != Ending::GoingOn {
            assert_eq!(found.blocks, blocks);
            return (blocks, looks.pop().expect("a look"));
        }
    }
    (MOST, looks.pop().expect("a look"))
}

fn comparison(ratios: &[f64]) -> Comparison {
    primary("one", Metric::WarmP50, ratios)
}

/// The share of runs whose interval contains the truth, a ratio of 1.1. A single ratio is the worst
/// case: with several, the widest one decides, and the others are not at their narrowest at that
/// moment.
fn coverage(noise: Noise, runs: u32) -> f64 {
    let truth = 1.1_f64.ln();
    let mut chance = Chance::new(11);
    let holds = |_: &u32| {
        let ratios = chance.ratios(noise, MOST, truth);
        let (_, found) = end_of(TARGET, |blocks| {
            vec![comparison(&ratios[..blocks as usize])]
        });
        let (low, high) = found[0].estimate.ends().expect("an interval");
        low <= 1.1 && 1.1 <= high
    };
    let held = (0..runs).filter(holds).count();
    held as f64 / f64::from(runs)
}

#[test]
fn intervals_of_precise_runs_have_95_percent_coverage() {
    for noise in [
        Noise::Normal(0.03),
        Noise::Normal(0.07),
        Noise::Normal(0.10),
        Noise::Drift(0.05),
        Noise::Outliers(0.03),
        Noise::HeavyTails(0.03),
    ] {
        let share = coverage(noise, 3000);
        print_figure(
            &format!("coverage of 95 % intervals of precise runs, {noise:?}"),
            share,
            "93 to 97 %",
        );
        assert!((0.93..=0.97).contains(&share), "{noise:?}: {share}");
    }
}

/// Whether equals with these ratios are called equivalent, where 5 % matter.
fn is_equivalent(ratios: &[f64]) -> bool {
    let thresholds = Thresholds {
        minimum_effect: 1.05_f64.ln(),
        is_gate: false,
    };
    let found = Interval::from_ratios(ratios).expect("ratios");
    let verdict = judge(Metric::WarmP50, &found, found.p_value, thresholds);
    verdict == Verdict::Equivalent
}

/// The share of runs of equals, precise to `target`, that find them equivalent.
fn decided(target: &str, noise: Noise) -> f64 {
    let mut chance = Chance::new(13);
    let is_decided = |_: &u32| {
        let ratios = chance.ratios(noise, MOST, 0.0);
        let after = |blocks: u32| vec![comparison(&ratios[..blocks as usize])];
        let (blocks, _) = end_of(target, after);
        is_equivalent(&ratios[..blocks as usize])
    };
    (0..RUNS).filter(is_decided).count() as f64 / f64::from(RUNS)
}

#[test]
fn precise_runs_decide_equals_at_half_of_the_minimum_effect() {
    for noise in every_noise(0.03) {
        let share = decided("2.5%", noise);
        print_figure(
            &format!("equals decided at half of the minimum effect, {noise:?}"),
            share,
            "80 % at least",
        );
        assert!(share >= 0.8, "{noise:?}: {share}");
    }
    let share = decided("5%", Noise::Normal(0.05));
    print_figure(
        "equals decided at the minimum effect itself",
        share,
        "less than half",
    );
    assert!(share < 0.5, "{share}");
}

#[test]
fn most_equals_are_decided_with_the_blocks_that_a_run_of_five_recommends() {
    let mut chance = Chance::new(17);
    let (mut advised, mut after) = (0, 0);
    for _ in 0..RUNS {
        let ratios = chance.ratios(Noise::Normal(0.03), MOST, 0.0);
        let first = Interval::from_ratios(&ratios[..5]).expect("ratios");
        let half = first.half_width.expect("five blocks");
        let needed = blocks_to_decide(half, 5, 1.05_f64.ln(), MOST);
        if let Some(blocks) = needed.filter(|blocks| *blocks > 5) {
            advised += 1;
            after += u32::from(is_equivalent(&ratios[..blocks as usize]));
        }
    }
    let share = f64::from(after) / f64::from(advised);
    print_figure(
        "equals decided with the blocks that were advised",
        share,
        "about 80 %",
    );
    assert!(advised > RUNS / 2 && share >= 0.78, "{share} of {advised}");
}

/// The numbers of a run of three variants at one point, as ratios to the first: the second is
/// slower by a factor, the third is equal to the first. `statistics_simulation.rs` covers all
/// points of a run; here a run is evaluated after every block.
struct Pairs {
    compared: Vec<(&'static str, Metric, Vec<f64>)>,
}

const METRICS: [Metric; 3] = [
    Metric::ThroughputRps,
    Metric::WarmP50,
    Metric::CpuPerRequest,
];

impl Pairs {
    fn measure(noise: Noise, slower: f64, chance: &mut Chance) -> Self {
        let share = 1.0 / f64::from(MOST);
        let mut times = |factor: f64| -> Vec<f64> {
            let trial = |block| factor * chance.trial(noise, f64::from(block) * share, share).exp();
            (0..MOST).map(trial).collect()
        };
        let mut compared = vec![];
        for metric in METRICS {
            let base = times(1.0);
            let mut ratios = |factor: f64| -> Vec<f64> {
                let values = times(factor);
                let pairs = values.iter().zip(&base);
                // The rate is the inverse of the time that was drawn.
                if metric == Metric::ThroughputRps {
                    pairs.map(|(value, base)| base / value).collect()
                } else {
                    pairs.map(|(value, base)| value / base).collect()
                }
            };
            compared.push(("one", metric, ratios(slower)));
            compared.push(("other", metric, ratios(1.0)));
        }
        Self { compared }
    }

    /// The comparisons of the first `blocks` blocks.
    fn after(&self, blocks: u32) -> Vec<Comparison> {
        let first = |ratios: &[f64]| comparison(&ratios[..blocks as usize]);
        self.compared
            .iter()
            .map(|(variant, metric, ratios)| Comparison {
                variant: (*variant).to_owned(),
                metric: *metric,
                ..first(ratios)
            })
            .collect()
    }

    /// The comparisons of the first `blocks` blocks with verdicts.
    fn judged(&self, blocks: u32) -> Vec<Comparison> {
        let found = self.after(blocks);
        let p_values: Vec<f64> = found.iter().map(|c| c.p_value).collect();
        let adjusted = false_discovery::adjusted(&p_values);
        let thresholds = Thresholds {
            minimum_effect: 1.05_f64.ln(),
            is_gate: false,
        };
        let intervals = self
            .compared
            .iter()
            .map(|(.., ratios)| Interval::from_ratios(&ratios[..blocks as usize]).expect("ratios"));
        let judged = found.into_iter().zip(intervals).zip(adjusted);
        judged
            .map(|((found, interval), adjusted)| Comparison {
                verdict: judge(found.metric, &interval, adjusted, thresholds),
                ..found
            })
            .collect()
    }
}

/// A question about what a run found.
type Check<'a> = &'a dyn Fn(&[Comparison]) -> bool;

/// The mean number of blocks per run, and for each of `checks` the share of runs whose results it
/// holds for.
fn shares<const N: usize>(
    (noise, slower): (Noise, f64),
    runs: u32,
    checks: [Check<'_>; N],
) -> (f64, [f64; N]) {
    let mut chance = Chance::new(7);
    let (mut spent, mut counts) = (0, [0; N]);
    for _ in 0..runs {
        let pairs = Pairs::measure(noise, slower, &mut chance);
        let (blocks, _) = end_of(TARGET, |blocks| pairs.after(blocks));
        spent += blocks;
        let found = pairs.judged(blocks);
        for (count, holds) in counts.iter_mut().zip(checks) {
            *count += u32::from(holds(&found));
        }
    }
    let share = |count| f64::from(count) / f64::from(runs);
    (share(spent), counts.map(share))
}

#[test]
fn at_most_7_in_100_precise_runs_of_equals_have_a_false_positive() {
    // As many as have intervals that miss the truth, because intervals are looked at repeatedly.
    let [_, drift, outliers, heavy] = every_noise(0.06);
    for noise in [
        Noise::Normal(0.03),
        Noise::Normal(0.06),
        Noise::Normal(0.10),
        drift,
        outliers,
        heavy,
    ] {
        let any =
            |comparisons: &[Comparison]| comparisons.iter().any(|c| c.verdict.is_difference());
        let (blocks, [share]) = shares((noise, 1.0), RUNS, [&any]);
        print_figure(
            &format!("precise runs of equals with a difference, {noise:?}, {blocks} blocks"),
            share,
            "at most 7 %",
        );
        assert!(share <= 0.07, "{noise:?}: {share}");
    }
}

#[test]
fn a_slowdown_of_10_percent_is_found_with_the_blocks_of_precision() {
    let is_found = |comparisons: &[Comparison], metric| {
        let slower = |c: &Comparison| {
            c.variant == "one" && matches!(c.verdict, Verdict::Slower | Verdict::Larger)
        };
        comparisons.iter().any(|c| c.metric == metric && slower(c))
    };
    let rate = |found: &[Comparison]| is_found(found, Metric::ThroughputRps);
    let time = |found: &[Comparison]| is_found(found, Metric::WarmP50);
    let cpu = |found: &[Comparison]| is_found(found, Metric::CpuPerRequest);
    for noise in every_noise(0.10) {
        let (blocks, shares) = shares((noise, 1.1), RUNS, [&rate, &time, &cpu]);
        let fewest = shares.iter().copied().fold(1.0, f64::min);
        print_figure(
            &format!("slower by 10 %, {noise:?}, {blocks} blocks: found in"),
            fewest,
            "at least 95 %",
        );
        assert!(fewest >= 0.95, "{noise:?}: {shares:?}");
    }
}

/// The mean number of blocks that whole runs of equals, including summaries, need until they are
/// precise.
fn blocks_of_whole_runs(noise: f64) -> f64 {
    let run = SyntheticRun {
        blocks: MOST,
        noise: Noise::Normal(noise),
        slower: [1.0, 1.0],
        twin: false,
        connections: vec![10, 50, 100],
    };
    let mut chance = Chance::new(7);
    let blocks = |_| {
        let measured = run.measure(&mut chance);
        f64::from(end_of(TARGET, |blocks| measured.after(blocks)).0)
    };
    (0..30).map(blocks).sum::<f64>() / 30.0
}

#[test]
fn a_quiet_run_is_over_after_8_blocks_and_a_noisy_one_spends_its_budget() {
    let quiet = blocks_of_whole_runs(0.01);
    assert!((8.0..8.1).contains(&quiet), "{quiet}");
    let noisy = blocks_of_whole_runs(0.30);
    assert!((noisy - f64::from(MOST)).abs() < 0.1, "{noisy}");
}
