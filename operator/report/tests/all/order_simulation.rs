//! Is it found when the order of trials moves their numbers, and how far does that shift ratios?
//! Runs of four variants and the baseline's twin, with a warm and a loaded point.

use std::collections::BTreeMap;

use jiff::Timestamp;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::TWIN;
use wasmbench_model::twin::with_twin;
use wasmbench_model::wire::record::{Cell, Outcome, Point, TrialId};
use wasmbench_results::cells::Cells;
use wasmbench_results::judge::compare::{Comparisons, comparisons};
use wasmbench_results::judge::order_effects::Cause;
use wasmbench_results::read::observation::Observation;
use wasmbench_results::read::trial::{Metrics, Trial, TrialState};
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::{Metric, Sweep};

use crate::synthetic::{Chance, Noise, cell, every_noise, print_figure};

const VARIANTS: [&str; 5] = ["base", "one", "other", "heavy", TWIN];
const POINTS: [(Sweep, u32); 2] = [(Sweep::WarmLatency, 1), (Sweep::Throughput, 50)];

/// What moves the numbers of a run, as logarithms.
#[derive(Clone, Copy)]
struct Run {
    blocks: u32,
    noise: Noise,
    /// What `heavy` does to the next trial.
    carried: f64,
    /// From the beginning of a block to its end.
    in_block: f64,
    /// From the beginning of the run to its end.
    drift: f64,
}

const QUIET: Run = Run {
    blocks: 10,
    noise: Noise::Normal(0.02),
    carried: 0.0,
    in_block: 0.0,
    drift: 0.0,
};

fn spec(blocks: u32) -> BenchmarkRunSpec {
    let variants = VARIANTS.map(|name| serde_json::json!({"name": name}));
    with_twin(
        &serde_json::from_value(serde_json::json!({
            "blocks": blocks,
            "noiseFloor": true,
            "variants": variants[..4],
            "workloads": [{"name": "hello"}],
            "sweeps": {"warmLatency": {}, "throughput": {"connections": [50]}},
        }))
        .expect("a spec"),
    )
}

/// Every pair of a variant and a point, in random order.
fn shuffled(chance: &mut Chance) -> Vec<(usize, usize)> {
    let pairs = (0..VARIANTS.len()).flat_map(|variant| [(variant, 0), (variant, 1)]);
    let mut keyed: Vec<_> = pairs.map(|pair| (chance.uniform(), pair)).collect();
    keyed.sort_by(|one, other| one.0.total_cmp(&other.0));
    keyed.into_iter().map(|(_, pair)| pair).collect()
}

fn observed(position: u32) -> Observation {
    Observation {
        position,
        began_at: None,
        recorded_at: Timestamp::UNIX_EPOCH,
        ended: Outcome::Measured,
        numbers: None,
        generator_ceiling: None,
        engine_contradiction: None,
        limit_range_cpu: None,
        answer_bytes: None,
        bodies: BTreeMap::new(),
        facts: 0,
    }
}

/// A trial that takes `longer`, a logarithm.
fn trial(block: u32, position: u32, longer: f64) -> Trial {
    let longer = longer.exp();
    Trial {
        block,
        position,
        state: TrialState::Valid,
        reason: None,
        metrics: Metrics {
            requests: 10_000,
            rps: Some(10_000.0 / longer),
            p50: Some(100.0 * longer),
            cpu: Some(50.0 * longer),
            ..Metrics::default()
        },
    }
}

impl Run {
    fn measure(&self, chance: &mut Chance) -> Comparisons {
        let spec = spec(self.blocks);
        let share = 1.0 / f64::from(self.blocks);
        let mut trials: BTreeMap<(usize, usize), Vec<Trial>> = BTreeMap::new();
        let mut observations = BTreeMap::new();
        let mut positions = 0..;
        for block in 1..=self.blocks {
            let order = shuffled(chance);
            let mut before = None;
            for (place, pair) in order.iter().enumerate() {
                let passed = place as f64 / order.len() as f64;
                let when = share * (f64::from(block - 1) + passed);
                let is_carried = before == Some("heavy");
                let longer = chance.trial(self.noise, when, 0.0)
                    + if is_carried { self.carried } else { 0.0 }
                    + self.in_block * passed
                    + self.drift * when;
                let position = positions.next().expect("a position");
                trials
                    .entry(*pair)
                    .or_default()
                    .push(trial(block, position, longer));
                observations.insert(id(*pair, block), observed(position));
                before = Some(VARIANTS[pair.0]);
            }
        }
        let cells = trials.into_iter().map(|((variant, point), trials)| {
            let (sweep, connections) = POINTS[point];
            cell(VARIANTS[variant], sweep, connections, trials)
        });
        let cells = Cells {
            loads: cells.collect(),
            ..Cells::default()
        };
        comparisons(&spec, "base", &cells, None).with_order_effects(&spec, &observations, &cells)
    }

    /// The share of `runs` runs for which `holds` returns true.
    fn share(&self, runs: u32, holds: impl Fn(&Comparisons) -> bool) -> f64 {
        let mut chance = Chance::new(61);
        let count = (0..runs)
            .filter(|_| holds(&self.measure(&mut chance)))
            .count();
        count as f64 / f64::from(runs)
    }
}

fn id((variant, point): (usize, usize), block: u32) -> TrialId {
    TrialId {
        cell: Cell {
            variant: VARIANTS[variant].to_owned(),
            workload: "hello".to_owned(),
            point: if point == 0 {
                Point::WarmLatency
            } else {
                Point::Throughput { connections: 50 }
            },
        },
        block,
    }
}

fn is_any_found(run: &Comparisons) -> bool {
    !run.order_effects.is_empty()
}

fn names_heavy(run: &Comparisons) -> bool {
    let mut causes = run.order_effects.iter().map(|effect| &effect.cause);
    causes.any(|cause| matches!(cause, Cause::Predecessor(name) if name == "heavy"))
}

fn is_any_untrusted(run: &Comparisons) -> bool {
    let mut compared = run.with_baseline.iter();
    compared.any(|one| one.untrusted.contains(&Reason::OrderEffect))
}

#[test]
fn at_most_1_in_100_quiet_runs_depends_on_the_order() {
    let drifts = [0.0, 0.3].map(|drift| Run { drift, ..QUIET });
    // Its drift is in `drift`, where it follows the order.
    let noises = every_noise(0.05).into_iter();
    let noises = noises.filter(|noise| !matches!(noise, Noise::Drift(_)));
    let noisy = noises.map(|noise| Run { noise, ..QUIET });
    for run in drifts.into_iter().chain(noisy) {
        let found = run.share(1000, is_any_found);
        let name = format!(
            "quiet runs that depend on the order, {:?}, drift {}",
            run.noise, run.drift
        );
        print_figure(&name, found, "1 % at most, which 1000 runs may show as 2");
        assert!(found <= 0.02, "{name}: {found}");
    }
}

#[test]
fn a_variant_that_slows_the_next_trial_by_5_percent_is_named_in_most_runs() {
    for blocks in [10, 20] {
        let run = Run {
            blocks,
            carried: 0.05,
            ..QUIET
        };
        let found = run.share(300, names_heavy);
        let name = format!("a variant that slows the next trial by 5 %, {blocks} blocks");
        print_figure(&name, found, "at least 80 % of runs name it");
        assert!(found >= 0.8, "{name}: {found}");
        let untrusted = run.share(300, is_any_untrusted);
        assert!(untrusted <= 0.05, "{name}: {untrusted} are not trusted");
    }
}

/// It slows all others, and never itself at the same point.
#[test]
fn a_variant_that_slows_the_next_trial_looks_better_by_as_much_as_is_stated() {
    let run = Run {
        carried: 0.05,
        ..QUIET
    };
    let mut chance = Chance::new(67);
    let (mut found, mut stated) = (vec![], vec![]);
    for _ in 0..500 {
        let run = run.measure(&mut chance);
        let is_meant =
            |variant: &str, metric| (variant, metric) == ("heavy", Metric::CpuPerRequest);
        let ratios = run.with_baseline.iter();
        found.extend(
            ratios
                .filter(|one| is_meant(&one.variant, one.metric))
                .map(|one| one.estimate.ratio.ln()),
        );
        for effect in &run.order_effects {
            let shifts = effect.shifts.iter();
            let here = shifts.filter(|shift| is_meant(&shift.variant, effect.metric));
            stated.extend(here.map(|shift| shift.by));
        }
    }
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    let (found, stated) = (mean(&found), mean(&stated));
    print_figure(
        "how far a variant that slows the next looks better",
        -found,
        "what is stated",
    );
    print_figure("how far reports state that it does", -stated, "what it is");
    assert!((-0.02..-0.003).contains(&found), "{found}");
    assert!((stated - found).abs() < 0.003, "{stated} {found}");
}

#[test]
fn a_comparison_that_the_order_shifts_by_half_of_what_matters_is_not_trusted() {
    let run = Run {
        carried: 0.4,
        ..QUIET
    };
    let found = run.share(200, is_any_untrusted);
    print_figure(
        "a variant that slows the next trial by 49 %",
        found,
        "at least 80 % not trusted",
    );
    assert!(found >= 0.8, "{found}");
}

#[test]
fn trials_that_take_longer_at_the_end_of_a_block_are_found_in_most_runs() {
    for blocks in [10, 20] {
        let run = Run {
            blocks,
            in_block: 0.05,
            ..QUIET
        };
        let found = run.share(300, |run| {
            let mut causes = run.order_effects.iter().map(|effect| &effect.cause);
            causes.any(|cause| *cause == Cause::Position)
        });
        let name = format!("trials that take 5 % longer at the end of a block, {blocks} blocks");
        print_figure(&name, found, "at least 80 % of runs report it");
        assert!(found >= 0.8, "{name}: {found}");
    }
}
