//! Do the statistics keep what they promise? Thousands of synthetic runs with a known truth, seeded
//! so that they always say the same. The figures of docs/adr/0006-trimmed-log-ratios.md come from here
//! and from longer runs of the same.

#![allow(
    clippy::print_stdout,
    reason = "a broken simulation must stop the test, and `make selftest` shows the figures"
)]

use wasmbench_results::comparison::Comparison;
use wasmbench_results::judge::Verdict;
use wasmbench_results::measure::Metric;
use wasmbench_results::statistics::ratio::smallest_found;
use wasmbench_results::statistics::{Interval, Spread, false_discovery};

use crate::synthetic::{Chance, Noise, SyntheticRun, every_noise};

/// A line of `make selftest`.
fn found(name: &str, share: f64, expected: &str) {
    println!("selftest: {name}: {:.1} % ({expected})", share * 100.0);
}

const BLOCKS: [u32; 6] = [5, 6, 8, 10, 15, 20];

/// Share of 95 % intervals that hold the truth, a ratio of 1.1.
fn coverage(noise: Noise, blocks: u32, runs: u32) -> f64 {
    let truth = 1.1_f64.ln();
    let mut chance = Chance::new(u64::from(blocks));
    let holds = |_: &u32| {
        let interval = Interval::of(&chance.ratios(noise, blocks, truth)).expect("ratios");
        (interval.estimate - truth).abs() <= interval.half_width.expect("several blocks")
    };
    f64::from(u32::try_from((0..runs).filter(holds).count()).expect("few")) / f64::from(runs)
}

fn assert_coverage(noise: Noise) {
    for blocks in BLOCKS {
        let share = coverage(noise, blocks, 3000);
        let name = format!("intervals that hold the truth, {noise:?}, {blocks} blocks");
        found(&name, share, "93 to 97 %");
        assert!(
            (0.93..=0.97).contains(&share),
            "{noise:?}, {blocks} blocks: {share}"
        );
    }
}

#[test]
fn intervals_hold_the_truth_in_95_of_100_runs_with_normal_noise() {
    assert_coverage(Noise::Normal(0.05));
}

#[test]
fn intervals_hold_the_truth_when_the_node_drifts_over_the_run() {
    assert_coverage(Noise::Drift(0.05));
}

#[test]
fn intervals_hold_the_truth_when_single_trials_are_outliers() {
    assert_coverage(Noise::Outliers(0.03));
}

#[test]
fn intervals_hold_the_truth_when_noise_has_heavy_tails() {
    assert_coverage(Noise::HeavyTails(0.03));
}

/// Share of intervals of a median over trials that hold the truth. Outliers lie on one side here: what
/// is asked is whether the median tells what the trials would be without them.
fn median_coverage(noise: Noise, trials: u32, runs: u32) -> f64 {
    let mut chance = Chance::new(u64::from(trials));
    let holds = |_: &u32| {
        let values = (0..trials).map(|_| chance.trial(noise, 0.0, 0.0).exp());
        let spread = Spread::of(values).expect("values");
        spread.low <= 1.0 && 1.0 <= spread.high
    };
    f64::from(u32::try_from((0..runs).filter(holds).count()).expect("few")) / f64::from(runs)
}

fn noise_without_drift() -> [Noise; 3] {
    let [normal, _, outliers, heavy] = every_noise(0.05);
    [normal, outliers, heavy]
}

#[test]
fn the_median_of_a_point_lies_in_its_interval_in_95_of_100_runs() {
    for noise in noise_without_drift() {
        let mut shares = vec![];
        for trials in 6..=20 {
            let share = median_coverage(noise, trials, 4000);
            assert!(
                (0.93..=0.97).contains(&share),
                "{noise:?}, {trials} trials: {share}"
            );
            shares.push(share);
        }
        let least = shares.iter().copied().fold(1.0, f64::min);
        let most = shares.iter().copied().fold(0.0, f64::max);
        let name = format!("intervals of medians that hold the truth, {noise:?}, 6 to 20 trials");
        found(&format!("{name}, least"), least, "93 to 97 %");
        found(&format!("{name}, most"), most, "93 to 97 %");
    }
}

#[test]
fn fewer_than_six_trials_hold_the_median_as_often_as_reports_say() {
    for noise in noise_without_drift() {
        for (trials, said) in [(2, 0.50), (3, 0.75), (4, 0.875), (5, 0.9375)] {
            let share = median_coverage(noise, trials, 4000);
            assert!(
                (share - said).abs() < 0.02,
                "{noise:?}, {trials} trials: {share}"
            );
        }
    }
}

/// Share of 95 % intervals of unpaired samples of these sizes that hold the truth, a ratio of 1.1.
fn unpaired_coverage(noises: [Noise; 2], trials: [u32; 2], runs: u32) -> f64 {
    let truth = 1.1_f64.ln();
    let mut chance = Chance::new(u64::from(100 * trials[0] + trials[1]));
    let mut sample = |noise, trials, truth: f64| -> Vec<f64> {
        (0..trials)
            .map(|_| (truth + chance.trial(noise, 0.0, 0.0)).exp())
            .collect()
    };
    let holds = |_: &u32| {
        let (value, base) = (
            sample(noises[0], trials[0], truth),
            sample(noises[1], trials[1], 0.0),
        );
        let interval = Interval::unpaired(&value, &base).expect("numbers");
        (interval.estimate - truth).abs() <= interval.half_width.expect("several trials")
    };
    f64::from(u32::try_from((0..runs).filter(holds).count()).expect("few")) / f64::from(runs)
}

#[test]
fn intervals_across_runs_hold_the_truth_whatever_the_sizes_and_the_noise() {
    let noises = [
        [Noise::Normal(0.05), Noise::Normal(0.05)],
        [Noise::Normal(0.10), Noise::Normal(0.02)],
        [Noise::Outliers(0.03), Noise::Outliers(0.03)],
        [Noise::HeavyTails(0.03), Noise::HeavyTails(0.03)],
    ];
    let mut shares = vec![];
    for noise in noises {
        for trials in [
            [5, 5],
            [5, 10],
            [10, 5],
            [8, 8],
            [10, 10],
            [15, 20],
            [20, 20],
        ] {
            let share = unpaired_coverage(noise, trials, 3000);
            shares.push(format!("{noise:?} {trials:?}: {share}"));
            assert!((0.93..=0.98).contains(&share), "{shares:#?}");
        }
    }
}

/// With 20 numbers per run, how often two runs of equals come to any difference.
#[test]
fn at_most_one_comparison_of_equal_runs_in_twenty_finds_a_difference() {
    for (noise, trials) in [(0.03, 5), (0.10, 5), (0.10, 10)] {
        let mut chance = Chance::new(11);
        let found = (0..1000).filter(|_| {
            let mut sample = || -> Vec<f64> {
                (0..trials)
                    .map(|_| (noise * chance.normal()).exp())
                    .collect()
            };
            let p_values: Vec<f64> = (0..20)
                .map(|_| {
                    Interval::unpaired(&sample(), &sample())
                        .expect("numbers")
                        .p_value
                })
                .collect();
            false_discovery::adjusted(&p_values)
                .into_iter()
                .any(|p| p <= 0.05)
        });
        let found = found.count();
        assert!(
            found <= 50,
            "noise {noise}, {trials} trials: {found} of 1000"
        );
    }
}

/// Share of runs for which `says` holds of the comparisons.
fn share(run: &SyntheticRun, runs: u32, says: impl Fn(&[Comparison]) -> bool) -> f64 {
    let mut chance = Chance::new(7);
    let count = (0..runs)
        .filter(|_| says(&run.comparisons(&mut chance)))
        .count();
    count as f64 / f64::from(runs)
}

/// Whether the run says of anything that it was to decide that it differs.
fn any_difference(comparisons: &[Comparison]) -> bool {
    let mut primary = comparisons.iter().filter(|c| c.primary);
    primary.any(|c| c.verdict.is_difference())
}

#[test]
fn at_most_one_run_of_equals_in_twenty_finds_a_difference() {
    for (blocks, noise) in [(5, 0.03), (5, 0.10), (10, 0.10), (20, 0.20)] {
        let run = SyntheticRun {
            blocks,
            noise: Noise::Normal(noise),
            slower: [1.0, 1.0],
            twin: false,
            connections: vec![10, 50, 100, 200, 400, 800],
        };
        let found = share(&run, 2000, any_difference);
        let name = format!("runs of equals with a difference, {blocks} blocks, noise {noise}");
        self::found(&name, found, "5 % at most, which 2000 runs may show as 6");
        assert!(found <= 0.06, "{blocks} blocks, noise {noise}: {found}");
    }
}

#[test]
fn at_most_one_run_of_equals_in_twenty_finds_a_difference_under_any_noise() {
    for (blocks, deviation) in [(5, 0.05), (10, 0.10)] {
        for noise in &every_noise(deviation)[1..] {
            let run = SyntheticRun {
                blocks,
                noise: *noise,
                slower: [1.0, 1.0],
                twin: false,
                connections: vec![10, 50, 100],
            };
            let found = share(&run, 2000, any_difference);
            let name = format!("runs of equals with a difference, {blocks} blocks, {noise:?}");
            self::found(&name, found, "5 % at most, which 2000 runs may show as 6");
            assert!(found <= 0.06, "{blocks} blocks, {noise:?}: {found}");
        }
    }
}

#[test]
fn with_a_twin_at_most_one_run_of_equals_in_twenty_differs() {
    let run = SyntheticRun {
        blocks: 10,
        noise: Noise::Normal(0.10),
        slower: [1.0, 1.0],
        twin: true,
        connections: vec![10, 50, 100, 200],
    };
    let found = share(&run, 2000, any_difference);
    assert!(found <= 0.06, "{found}");
}

const PLANTED: [Metric; 3] = [
    Metric::ThroughputRps,
    Metric::WarmP50,
    Metric::CpuPerRequest,
];

fn is_worse(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Slower | Verdict::Larger)
}

/// Shares of 1000 runs of 10 blocks in which a slowdown of 10 % is found, by metric.
fn planted(noise: Noise, twin: bool) -> [f64; 3] {
    let run = SyntheticRun {
        blocks: 10,
        noise,
        slower: [1.1, 1.0],
        twin,
        connections: vec![10, 50, 100],
    };
    let (mut chance, mut counts) = (Chance::new(7), [0_u32; 3]);
    for _ in 0..1000 {
        let comparisons = run.comparisons(&mut chance);
        for (count, metric) in counts.iter_mut().zip(PLANTED) {
            let is_found =
                |c: &Comparison| c.variant == "one" && c.metric == metric && is_worse(c.verdict);
            *count += u32::from(comparisons.iter().any(is_found));
        }
    }
    counts.map(|count| f64::from(count) / 1000.0)
}

#[test]
fn a_slowdown_of_10_percent_is_found_in_10_blocks_with_a_twin() {
    let [normal, drift, outliers, heavy] = every_noise(0.03);
    for (noise, least) in [
        (normal, 0.95),
        (drift, 0.95),
        (heavy, 0.95),
        // One trial in 33 is 35 % off: with two of them in ten blocks one is left after trimming.
        (outliers, 0.85),
    ] {
        for (metric, found) in PLANTED.into_iter().zip(planted(noise, true)) {
            let name = format!("a slowdown of 10 % found in 10 blocks, {noise:?}, {metric:?}");
            let expected = format!("at least {:.0} %", least * 100.0);
            self::found(&name, found, &expected);
            assert!(found >= least, "{noise:?}, {metric:?}: {found}");
        }
    }
}

#[test]
fn a_twin_in_the_baseline_finds_more_than_a_baseline_alone() {
    let noise = Noise::Normal(0.05);
    let both = planted(noise, false).into_iter().zip(planted(noise, true));
    for (metric, (alone, with_twin)) in PLANTED.into_iter().zip(both) {
        let name = format!("10 % found in 10 blocks at 5 % noise with a twin, {metric:?}");
        let expected = format!("more than {:.0} %", alone * 100.0);
        self::found(&name, with_twin, &expected);
        assert!(with_twin > alone, "{metric:?}: {with_twin} and {alone}");
    }
}

#[test]
fn half_the_rate_is_found_in_5_blocks_among_comparisons_of_equals() {
    let run = SyntheticRun {
        blocks: 5,
        noise: Noise::Normal(0.05),
        slower: [2.0, 1.0],
        twin: false,
        connections: vec![10, 50, 100],
    };
    let found = share(&run, 500, |comparisons| {
        let one = comparisons.iter().filter(|c| c.variant == "one");
        let verdicts: Vec<Verdict> = one.map(|c| c.verdict).collect();
        verdicts.len() == 3 && verdicts.into_iter().all(is_worse)
    });
    assert!(found >= 0.99, "{found}");
}

#[test]
fn a_variant_at_the_minimum_effect_is_seldom_called_equivalent() {
    let run = SyntheticRun {
        blocks: 10,
        noise: Noise::Normal(0.02),
        slower: [1.05, 1.0],
        twin: false,
        connections: vec![10, 50],
    };
    let wrong = share(&run, 500, |comparisons| {
        comparisons.iter().any(|c| {
            c.variant == "one" && c.metric == Metric::WarmP50 && c.verdict == Verdict::Equivalent
        })
    });
    assert!(wrong <= 0.05, "{wrong}");
}

#[test]
fn intervals_of_equals_hold_one_in_95_of_100_comparisons() {
    for noise in every_noise(0.05) {
        let run = SyntheticRun {
            blocks: 6,
            noise,
            slower: [1.0, 1.0],
            twin: false,
            connections: vec![10, 50],
        };
        let mut chance = Chance::new(31);
        let runs = (0..400).flat_map(|_| run.comparisons(&mut chance));
        let held: Vec<bool> = runs
            .filter_map(|c| c.estimate.ends())
            .map(|(low, high)| low <= 1.0 && 1.0 <= high)
            .collect();
        let share = held.iter().filter(|held| **held).count() as f64 / held.len() as f64;
        let name = format!("intervals of equals that hold 1, {noise:?}");
        self::found(&name, share, "95 %, and 93 at least");
        // Of 2,400 intervals of which 90 in 100 hold it, 93 do once in a million times.
        assert!(share >= 0.93, "{noise:?}: {share}");
    }
}

/// Runs in which `one` is a twentieth slower: as much as the smallest effect that matters.
fn at_the_minimum_effect() -> SyntheticRun {
    SyntheticRun {
        blocks: 10,
        noise: Noise::Normal(0.02),
        slower: [1.05, 1.0],
        twin: false,
        connections: vec![10, 50],
    }
}

#[test]
fn a_difference_of_the_minimum_effect_is_found_in_most_runs() {
    let found = share(&at_the_minimum_effect(), 500, |comparisons| {
        comparisons.iter().any(|c| {
            c.variant == "one" && c.metric == Metric::WarmP50 && c.verdict == Verdict::Slower
        })
    });
    self::found(
        "5 % found in 10 blocks at 2 % noise",
        found,
        "at least 90 %",
    );
    assert!(found >= 0.90, "{found}");
}

#[test]
fn of_the_differences_95_of_100_are_at_least_as_large_as_said() {
    // Differences that are seldom found: those that are were the luckiest, which an uncorrected interval overstates.
    let run = SyntheticRun {
        blocks: 5,
        noise: Noise::Normal(0.03),
        slower: [1.02, 1.02],
        twin: false,
        connections: vec![10, 50],
    };
    let mut chance = Chance::new(29);
    let missed: Vec<f64> = (0..1000)
        .map(|_| {
            let claims: Vec<f64> = run
                .comparisons(&mut chance)
                .iter()
                .filter_map(|c| c.at_least)
                .collect();
            let missed = claims.iter().filter(|claim| **claim > 1.02).count();
            missed as f64 / claims.len().max(1) as f64
        })
        .collect();
    let held = 1.0 - missed.iter().sum::<f64>() / missed.len() as f64;
    self::found(
        "near ends that the truth lies beyond",
        held,
        "at least 95 %",
    );
    assert!(held >= 0.95, "{held}");
}

#[test]
fn what_a_run_says_that_it_finds_is_found_in_about_80_of_100_runs() {
    let noise = 0.03;
    for blocks in [5, 10, 20] {
        let run = |slower| SyntheticRun {
            blocks,
            noise: Noise::Normal(noise),
            slower: [slower, 1.0],
            twin: false,
            connections: vec![10, 50],
        };
        // Two variants, two primary numbers of each. A ratio has the scatter of two trials.
        let smallest = smallest_found(noise * f64::sqrt(2.0), blocks, 4)
            .unwrap()
            .exp();
        let found = share(&run(smallest), 500, |comparisons| {
            // Below the minimum effect it may be told from chance and be equivalent all the same.
            comparisons.iter().any(|c| {
                c.variant == "one" && c.metric == Metric::WarmP50 && c.adjusted_p_value <= 0.05
            })
        });
        let name = format!(
            "{:.1} % found with {blocks} blocks",
            (smallest - 1.0) * 100.0
        );
        self::found(&name, found, "about 80 %");
        assert!(found >= 0.75, "{blocks} blocks: {found}");
    }
}

/// A run of the default 10 blocks in which so many variants are compared with the baseline, at 3 % noise.
fn many_variants(truth: f64, chance: &mut Chance) -> usize {
    let p_values = (0..20).map(|_| {
        let ratios = chance.ratios(Noise::Normal(0.03), 10, truth.ln());
        Interval::of(&ratios).expect("ratios").p_value
    });
    let adjusted = false_discovery::adjusted(&p_values.collect::<Vec<f64>>());
    adjusted
        .into_iter()
        .filter(|p_value| *p_value <= 0.05)
        .count()
}

#[test]
fn of_20_variants_17_are_found_and_of_20_equals_3_are_called_different() {
    let mut chance = Chance::new(37);
    let (mut finds_most, mut few_alarms) = (0, 0);
    for _ in 0..500 {
        finds_most += u32::from(many_variants(1.1, &mut chance) >= 17);
        few_alarms += u32::from(many_variants(1.0, &mut chance) <= 3);
    }
    for (name, runs) in [
        ("17 of 20 variants with a tenth more work found", finds_most),
        ("at most 3 of 20 equals called different", few_alarms),
    ] {
        let share = f64::from(runs) / 500.0;
        found(name, share, "at least 95 % of runs");
        assert!(share >= 0.95, "{name}: {share}");
    }
}

#[test]
fn what_is_measured_beside_the_primary_measure_costs_it_nothing() {
    let found = |primary: &[&str]| {
        let run = SyntheticRun {
            blocks: 5,
            noise: Noise::Normal(0.03),
            slower: [1.1, 1.0],
            twin: false,
            connections: vec![10, 50],
        };
        let mut chance = Chance::new(41);
        let is_found = |c: &Comparison| {
            c.variant == "one" && c.metric == Metric::CpuPerRequest && is_worse(c.verdict)
        };
        let runs = (0..1000).filter(|_| {
            let cells = run.measure_to_decide(primary, &mut chance);
            cells.after(5).iter().any(is_found)
        });
        runs.count() as f64 / 1000.0
    };
    let alone = found(&["cpuPerRequest"]);
    let all = found(&["cpuPerRequest", "throughputRps", "warmP50"]);
    let name = "10 % found in 5 blocks at 3 % noise by the only primary measure";
    self::found(
        name,
        alone,
        &format!("more than {:.1} % among three", all * 100.0),
    );
    assert!(alone >= 0.85 && alone > all, "{alone} and {all}");
}
