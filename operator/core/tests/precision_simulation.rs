//! Is it honest to go on until the intervals are narrow? Runs with a known truth that end when
//! `precision` says so. The figures of docs/methodology.md come from here and from longer runs of the
//! same.

#![allow(clippy::expect_used, reason = "a broken simulation must stop the test")]

mod synthetic;

use synthetic::{Chance, Noise, SyntheticCells, SyntheticRun, every_noise};
use wasmbench_core::results::compare::{Comparison, Metric};
use wasmbench_core::results::judge::Verdict;
use wasmbench_core::results::precision::{Outcome, decide, widths};
use wasmbench_core::results::statistics::LogInterval;
use wasmbench_core::results::summary::Sweep;

const TARGET: &str = "5%";
const FEWEST: u32 = 8;
const MOST: u32 = 50;
/// The first block after which a run is looked at.
const FIRST: u32 = 5;

/// Adds blocks to a run until it is precise; `after` tells the comparisons of its first blocks.
fn end_of(after: impl Fn(u32) -> Vec<Comparison>) -> (u32, Vec<Comparison>) {
    let mut looks: Vec<Vec<Comparison>> = (FIRST..FEWEST).map(&after).collect();
    for blocks in FEWEST..=MOST {
        looks.push(after(blocks));
        let latest = looks.iter().rev().take(4);
        let latest: Vec<_> = latest.map(|look| widths(look, &[], &[])).collect();
        let found = decide(TARGET, blocks, MOST, &latest);
        if found.outcome != Outcome::GoingOn {
            assert_eq!(found.blocks, blocks);
            return (blocks, looks.pop().expect("a look"));
        }
    }
    (MOST, looks.pop().expect("a look"))
}

fn comparison(ratios: &[f64]) -> Comparison {
    let found = LogInterval::of(ratios).expect("ratios");
    Comparison {
        variant: "one".into(),
        workload: "hello".into(),
        metric: Metric::WarmP50,
        sweep: Sweep::WarmLatency,
        connections: 1,
        percent_of_peak: None,
        ratio: found.estimate.exp(),
        low: found.low().map(f64::exp),
        high: found.high().map(f64::exp),
        p_value: found.p_value,
        adjusted_p_value: found.p_value,
        noise_floor: None,
        verdict: Verdict::Inconclusive,
        blocks: u32::try_from(ratios.len()).expect("few"),
        per_block: vec![],
    }
}

/// Share of runs whose interval holds the truth, a ratio of 1.1. A single ratio is the worst case: of
/// several, the widest decides, and the others are not at their narrowest just then.
fn coverage(noise: Noise, runs: u32) -> f64 {
    let truth = 1.1_f64.ln();
    let mut chance = Chance::new(11);
    let holds = |_: &u32| {
        let ratios = chance.ratios(noise, MOST, truth);
        let (_, found) = end_of(|blocks| vec![comparison(&ratios[..blocks as usize])]);
        let (low, high) = (found[0].low.expect("low"), found[0].high.expect("high"));
        low <= 1.1 && 1.1 <= high
    };
    let held = (0..runs).filter(holds).count();
    held as f64 / f64::from(runs)
}

#[test]
fn intervals_of_precise_runs_hold_the_truth_in_95_of_100_runs() {
    for noise in [
        Noise::Normal(0.03),
        Noise::Normal(0.07),
        Noise::Normal(0.10),
        Noise::Drift(0.05),
        Noise::Outliers(0.03),
        Noise::HeavyTails(0.03),
    ] {
        let share = coverage(noise, 3000);
        println!("coverage with {noise:?}: {share}");
        assert!((0.93..=0.97).contains(&share), "{noise:?}: {share}");
    }
}

/// A question about what a run found.
type Says<'a> = &'a dyn Fn(&[Comparison]) -> bool;

/// Blocks of the runs on average, and for each of `says` the share of runs in which it holds of what
/// they found.
fn shares<const N: usize>(run: &SyntheticRun, runs: u32, says: [Says<'_>; N]) -> (f64, [f64; N]) {
    let mut chance = Chance::new(7);
    let (mut spent, mut counts) = (0, [0; N]);
    for _ in 0..runs {
        let measured: SyntheticCells = run.measure(&mut chance);
        let (blocks, found) = end_of(|blocks| measured.after(blocks));
        spent += blocks;
        for (count, says) in counts.iter_mut().zip(says) {
            *count += u32::from(says(&found));
        }
    }
    let share = |count| f64::from(count) / f64::from(runs);
    (share(spent), counts.map(share))
}

fn run(noise: Noise, slower: f64) -> SyntheticRun {
    SyntheticRun {
        blocks: MOST,
        noise,
        slower: [slower, 1.0],
        twin: false,
        connections: vec![10, 50, 100],
    }
}

#[test]
fn at_most_one_precise_run_of_equals_in_twenty_finds_a_difference() {
    let [_, drift, outliers, heavy] = every_noise(0.06);
    for (noise, runs) in [
        (Noise::Normal(0.03), 500),
        (Noise::Normal(0.06), 500),
        (Noise::Normal(0.10), 300),
        (drift, 300),
        (outliers, 300),
        (heavy, 300),
    ] {
        let any =
            |comparisons: &[Comparison]| comparisons.iter().any(|c| c.verdict.is_difference());
        let (blocks, [found]) = shares(&run(noise, 1.0), runs, [&any]);
        println!("equals, {noise:?}: {blocks} blocks, {found} with a difference");
        assert!(found <= 0.05, "{noise:?}: {found}");
    }
}

#[test]
fn a_slowdown_of_10_percent_is_found_with_the_blocks_that_precision_chooses() {
    let is_found = |comparisons: &[Comparison], metric| {
        let slower = |c: &Comparison| c.variant == "one" && c.verdict == Verdict::Slower;
        comparisons.iter().any(|c| c.metric == metric && slower(c))
    };
    let rate = |found: &[Comparison]| is_found(found, Metric::ThroughputRps);
    let time = |found: &[Comparison]| is_found(found, Metric::WarmP50);
    let cpu = |found: &[Comparison]| is_found(found, Metric::CpuPerRequest);
    for noise in every_noise(0.10) {
        let (blocks, shares) = shares(&run(noise, 1.1), 400, [&rate, &time, &cpu]);
        println!("slower by 10 %, {noise:?}: {blocks} blocks, found in {shares:?}");
        assert!(
            shares.iter().all(|found| *found >= 0.95),
            "{noise:?}: {shares:?}"
        );
    }
}

#[test]
fn a_quiet_run_is_over_after_8_blocks_and_a_noisy_one_spends_its_budget() {
    let (quiet, []) = shares(&run(Noise::Normal(0.01), 1.0), 30, []);
    assert!((8.0..8.1).contains(&quiet), "{quiet}");
    let (noisy, []) = shares(&run(Noise::Normal(0.30), 1.0), 30, []);
    assert!((noisy - f64::from(MOST)).abs() < 0.1, "{noisy}");
}
