//! Do the statistics keep their promises? Thousands of synthetic runs with a known truth, seeded so
//! that every test run gives the same result. The figures in docs/adr/0006-trimmed-log-ratios.md
//! come from here and from longer runs of the same simulations.

use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::statistics::{
    Contrast, Estimated, Interval, Scale, Spread, false_discovery,
};

use crate::synthetic::{Chance, Noise, SyntheticRun, every_noise, print_figure, share};

const BLOCKS: [u32; 6] = [5, 6, 8, 10, 15, 20];

/// The share of 95 % intervals that contain the truth, a ratio of 1.1.
fn coverage(noise: Noise, blocks: u32, runs: u32) -> f64 {
    let truth = 1.1_f64.ln();
    let mut chance = Chance::new(u64::from(blocks));
    let holds = |_: &u32| {
        let interval = Interval::from_ratios(&chance.ratios(noise, blocks, truth)).expect("ratios");
        (interval.estimate - truth).abs() <= interval.half_width.expect("several blocks")
    };
    f64::from(u32::try_from((0..runs).filter(holds).count()).expect("few")) / f64::from(runs)
}

fn assert_coverage(noise: Noise) {
    for blocks in BLOCKS {
        let share = coverage(noise, blocks, 3000);
        let name = format!("coverage of intervals, {noise:?}, {blocks} blocks");
        print_figure(&name, share, "93 to 97.5 %");
        assert!(
            (0.93..=0.975).contains(&share),
            "{noise:?}, {blocks} blocks: {share}"
        );
    }
}

#[test]
fn intervals_have_95_percent_coverage_under_normal_noise() {
    assert_coverage(Noise::Normal(0.05));
}

#[test]
fn intervals_keep_their_coverage_if_the_node_drifts_over_the_run() {
    assert_coverage(Noise::Drift(0.05));
}

#[test]
fn intervals_keep_their_coverage_if_single_trials_are_outliers() {
    assert_coverage(Noise::Outliers(0.03));
}

#[test]
fn intervals_keep_their_coverage_under_heavy_tailed_noise() {
    assert_coverage(Noise::HeavyTails(0.03));
}

/// The share of intervals of equals that contain 1 if one trial in ten on only one side is 35 %
/// slower. It shows whether they cover the ratio of typical pods.
fn coverage_hit_on_one_side(blocks: u32, runs: u32) -> f64 {
    let mut chance = Chance::new(u64::from(blocks));
    let mut trial = |hits: f64| {
        let hit = if chance.uniform() < hits { 0.3 } else { 0.0 };
        hit + chance.trial(Noise::Normal(0.03), 0.0, 0.0)
    };
    let holds = |_: &u32| {
        let ratios: Vec<f64> = (0..blocks)
            .map(|_| (trial(0.1) - trial(0.0)).exp())
            .collect();
        let interval = Interval::from_ratios(&ratios).expect("ratios");
        interval.estimate.abs() <= interval.half_width.expect("several blocks")
    };
    f64::from(u32::try_from((0..runs).filter(holds).count()).expect("few")) / f64::from(runs)
}

/// One hit is trimmed; several widen the interval more than they shift it.
#[test]
fn intervals_keep_their_coverage_if_only_one_side_has_outliers() {
    for blocks in [10, 20] {
        let share = coverage_hit_on_one_side(blocks, 3000);
        let name =
            format!("coverage of intervals, one in ten of one side 35 % slower, {blocks} blocks");
        print_figure(&name, share, "at least 93 %");
        assert!(share >= 0.93, "{blocks} blocks: {share}");
    }
}

/// The share of intervals of a median over trials that contain the truth. Outliers are on one side
/// here: the share shows whether the median reflects the trials without them.
fn median_coverage(noise: Noise, trials: u32, runs: u32) -> f64 {
    let mut chance = Chance::new(u64::from(trials));
    let holds = |_: &u32| {
        let values = (0..trials).map(|_| chance.trial(noise, 0.0, 0.0).exp());
        let spread = Spread::from_values(values).expect("values");
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
        let name = format!("coverage of intervals of medians, {noise:?}, 6 to 20 trials");
        print_figure(&format!("{name}, least"), least, "93 to 97 %");
        print_figure(&format!("{name}, most"), most, "93 to 97 %");
    }
}

#[test]
fn intervals_of_fewer_than_six_trials_have_the_coverage_that_reports_state() {
    for noise in noise_without_drift() {
        for (trials, stated) in [(2, 0.50), (3, 0.75), (4, 0.875), (5, 0.9375)] {
            let share = median_coverage(noise, trials, 4000);
            assert!(
                (share - stated).abs() < 0.02,
                "{noise:?}, {trials} trials: {share}"
            );
        }
    }
}

/// The interval of two runs whose trials are all that differs.
fn unpaired(value: &[f64], base: &[f64]) -> Interval {
    let [value, base] =
        [value, base].map(|trials| Estimated::from_values(trials, Scale::Ratio).expect("numbers"));
    Contrast::unpaired(&value, &base, [0.0; 2]).interval
}

/// The share of 95 % intervals of unpaired samples of these sizes that contain the truth, a ratio
/// of 1.1.
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
        let interval = unpaired(&value, &base);
        (interval.estimate - truth).abs() <= interval.half_width.expect("several trials")
    };
    f64::from(u32::try_from((0..runs).filter(holds).count()).expect("few")) / f64::from(runs)
}

#[test]
fn intervals_across_runs_keep_their_coverage_for_any_sizes_and_noise() {
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

/// How often two runs of equals with 20 numbers each find any difference.
#[test]
fn at_most_1_in_20_comparisons_of_equal_runs_is_a_false_positive() {
    for (noise, trials) in [(0.03, 5), (0.10, 5), (0.10, 10)] {
        let mut chance = Chance::new(11);
        let found = (0..1000)
            .filter(|_| {
                let mut sample = || -> Vec<f64> {
                    (0..trials)
                        .map(|_| (noise * chance.normal()).exp())
                        .collect()
                };
                let p_values: Vec<f64> = (0..20)
                    .map(|_| unpaired(&sample(), &sample()).p_value)
                    .collect();
                false_discovery::adjusted(&p_values)
                    .into_iter()
                    .any(|p| p <= 0.05)
            })
            .count();
        assert!(
            found <= 50,
            "noise {noise}, {trials} trials: {found} of 1000"
        );
    }
}

/// Whether the run calls anything that it was to decide different.
fn any_difference(comparisons: &[Comparison]) -> bool {
    let mut primary = comparisons.iter().filter(|c| c.primary);
    primary.any(|c| c.verdict.is_difference())
}

#[test]
fn at_most_1_in_20_runs_of_equals_has_a_false_positive() {
    for (blocks, noise) in [(5, 0.03), (5, 0.10), (10, 0.10), (20, 0.20)] {
        let run = SyntheticRun {
            blocks,
            noise: Noise::Normal(noise),
            slower: [1.0, 1.0],
            twin: false,
            connections: vec![10, 50, 100, 200, 400, 800],
        };
        let differ = share(&run, 2000, any_difference);
        let name = format!("runs of equals with a difference, {blocks} blocks, noise {noise}");
        print_figure(&name, differ, "5 % at most, which 2000 runs may show as 6");
        assert!(differ <= 0.06, "{blocks} blocks, noise {noise}: {differ}");
    }
}

#[test]
fn at_most_1_in_20_runs_of_equals_has_a_false_positive_under_any_noise() {
    for (blocks, deviation) in [(5, 0.05), (10, 0.10)] {
        for noise in &every_noise(deviation)[1..] {
            let run = SyntheticRun {
                blocks,
                noise: *noise,
                slower: [1.0, 1.0],
                twin: false,
                connections: vec![10, 50, 100],
            };
            let differ = share(&run, 2000, any_difference);
            let name = format!("runs of equals with a difference, {blocks} blocks, {noise:?}");
            print_figure(&name, differ, "5 % at most, which 2000 runs may show as 6");
            assert!(differ <= 0.06, "{blocks} blocks, {noise:?}: {differ}");
        }
    }
}

#[test]
fn at_most_1_in_20_runs_of_equals_with_a_twin_has_a_false_positive() {
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

#[test]
fn intervals_of_equals_contain_one_in_95_of_100_comparisons() {
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
        print_figure(&name, share, "95 %, and 93 at least");
        // If 90 in 100 intervals held 1, then 93 in 100 of 2,400 would hold it once in a million
        // times.
        assert!(share >= 0.93, "{noise:?}: {share}");
    }
}

/// If the mean of baseline and twin were taken first, it would be skewed less than the variant, which
/// shows with many blocks, whose intervals are narrow.
#[test]
fn a_twin_does_not_make_equals_differ_under_skewed_noise() {
    for noise in [Noise::TwoKinds(0.08), Noise::Exponential(0.08)] {
        for blocks in [10, 20, 50] {
            let run = SyntheticRun {
                blocks,
                noise,
                slower: [1.0, 1.0],
                twin: true,
                connections: vec![10, 50],
            };
            let mut chance = Chance::new(43);
            let runs = (0..1000).flat_map(|_| run.comparisons(&mut chance));
            let held: Vec<bool> = runs
                .filter_map(|c| c.estimate.ends())
                .map(|(low, high)| low <= 1.0 && 1.0 <= high)
                .collect();
            let share = held.iter().filter(|held| **held).count() as f64 / held.len() as f64;
            let name =
                format!("intervals of equals that hold 1 with a twin, {blocks} blocks, {noise:?}");
            print_figure(&name, share, "94 % at least");
            assert!(share >= 0.94, "{name}: {share}");
        }
    }
}
