//! Do intervals of what bytes cost contain the truth? Synthetic trials of subjects whose fixed cost and cost
//! per megabyte are known, with noise in each window and between pods, and lines fitted in two ways.

use wasmbench_results::statistics::{Interval, Line};

use crate::synthetic::{Chance, Noise, every_noise, print_figure};

/// The default sizes, in megabytes.
const SIZES: [f64; 5] = [0.0, 0.001_024, 0.016_384, 0.262_144, 1.048_576];
/// By how much more the second subject costs, in both ways.
const TRUTH: f64 = 1.3;
/// The scatter between pods, which moves all sizes of a trial together.
const PODS: f64 = 0.02;
const RUNS: u32 = 500;

/// What a line is fitted by.
type Fit = fn(&[(f64, f64)]) -> Option<Line>;

/// What is measured: microseconds per request and per megabyte.
#[derive(Clone, Copy)]
struct Subject {
    fixed: f64,
    per_megabyte: f64,
}

/// Bytes that are cheap, that are dear, and that hardly matter.
const SUBJECTS: [Subject; 3] = [
    Subject {
        fixed: 30.0,
        per_megabyte: 300.0,
    },
    Subject {
        fixed: 30.0,
        per_megabyte: 3000.0,
    },
    Subject {
        fixed: 200.0,
        per_megabyte: 300.0,
    },
];

impl Subject {
    fn times(self, factor: f64) -> Self {
        Self {
            fixed: self.fixed * factor,
            per_megabyte: self.per_megabyte * factor,
        }
    }

    /// The line of one trial at `when` (0 to 1) of a run with blocks of this share of it.
    fn trial(self, fit: Fit, noise: Noise, chance: &mut Chance, when: (f64, f64)) -> Line {
        let pod = PODS * chance.normal();
        let points = SIZES.map(|megabytes| {
            let cpu = self.fixed + self.per_megabyte * megabytes;
            let scatter = chance.trial(noise, when.0, when.1);
            (megabytes, cpu * (pod + scatter).exp())
        });
        fit(&points).expect("a line")
    }
}

/// The share of intervals that contain the true ratio, and their median half width: of the fixed cost, and of
/// the cost per megabyte.
fn coverage(fit: Fit, subject: Subject, noise: Noise, blocks: u32) -> [(f64, f64); 2] {
    let mut chance = Chance::new(u64::from(blocks));
    let (mut holds, mut widths) = ([0_u32; 2], [vec![], vec![]]);
    for _ in 0..RUNS {
        let mut ratios = [vec![], vec![]];
        for block in 0..blocks {
            let share = 1.0 / f64::from(blocks);
            let when = (f64::from(block) * share, share);
            let base = subject.trial(fit, noise, &mut chance, when);
            let other = subject.times(TRUTH).trial(fit, noise, &mut chance, when);
            ratios[0].push(other.start / base.start);
            ratios[1].push(other.slope / base.slope);
        }
        for (which, ratios) in ratios.iter().enumerate() {
            let usable: Vec<f64> = ratios.iter().copied().filter(|one| *one > 0.0).collect();
            let Some(interval) = Interval::from_ratios(&usable) else {
                continue;
            };
            let half = interval.half_width.expect("several blocks");
            holds[which] += u32::from((interval.estimate - TRUTH.ln()).abs() <= half);
            widths[which].push(half);
        }
    }
    [0, 1].map(|which| {
        widths[which].sort_by(f64::total_cmp);
        let share = f64::from(holds[which]) / f64::from(RUNS);
        (share, widths[which][widths[which].len() / 2])
    })
}

/// Every size counts as much as any other microsecond: what most would do.
fn unweighted(points: &[(f64, f64)]) -> Line {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let square: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let product: f64 = points
        .iter()
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    let slope = product / square;
    Line {
        start: y - slope * x,
        slope,
    }
}

#[test]
fn intervals_of_both_costs_contain_the_truth_under_every_noise() {
    for subject in SUBJECTS {
        for noise in every_noise(0.03) {
            for blocks in [5, 10, 20] {
                let name = format!(
                    "{} us + {} us/MB, {noise:?}, {blocks} blocks",
                    subject.fixed, subject.per_megabyte
                );
                let [fixed, slope] = coverage(Line::fit, subject, noise, blocks);
                print_figure(&format!("fixed cost, {name}"), fixed.0, "92 % or more");
                print_figure(&format!("cost per MB, {name}"), slope.0, "92 % or more");
                let (of_fixed, of_slope) = (fixed.1, slope.1);
                print_figure(
                    &format!("half width of the fixed cost, {name}"),
                    of_fixed,
                    "a few percent",
                );
                print_figure(
                    &format!("half width of the cost per MB, {name}"),
                    of_slope,
                    "a few percent",
                );
                assert!(
                    fixed.0 >= 0.92 && slope.0 >= 0.92,
                    "{name}: {fixed:?} {slope:?}"
                );
            }
        }
    }
}

/// Why sizes are weighted: without weights, the noise of the largest body drowns what a request costs.
#[test]
fn without_weights_the_fixed_cost_of_dear_bytes_is_several_times_as_uncertain() {
    let noise = Noise::Normal(0.03);
    let [weighted, _] = coverage(Line::fit, SUBJECTS[1], noise, 10);
    let [plain, slope] = coverage(|points| Some(unweighted(points)), SUBJECTS[1], noise, 10);
    print_figure(
        "half width of the fixed cost, weighted",
        weighted.1,
        "a few percent",
    );
    print_figure(
        "half width of the fixed cost, unweighted",
        plain.1,
        "several times that",
    );
    print_figure(
        "half width of the cost per MB, unweighted",
        slope.1,
        "a few percent",
    );
    assert!(plain.1 > 4.0 * weighted.1, "{plain:?} {weighted:?}");
}
