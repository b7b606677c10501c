//! Synthetic runs for the simulations: both the truth and the scatter of trials are known.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_api::run::TWIN;
use wasmbench_model::twin::with_twin;
use wasmbench_model::wire::record::{Cell, Point};
use wasmbench_results::cells::Cells;
use wasmbench_results::cells::load::{LoadCell, LoadDetail};
use wasmbench_results::judge::compare::comparisons;
use wasmbench_results::judge::comparison::{Comparison, Estimate};
use wasmbench_results::judge::verdict::Verdict;
use wasmbench_results::read::trial::{Metrics, Trial, TrialState};
use wasmbench_results::statistics::{Interval, Spread};
use wasmbench_results::vocabulary::counts::TrialCounts;
use wasmbench_results::vocabulary::measure::{Metric, Sweep};

/// How the logarithm of one trial's number scatters around its truth.
#[derive(Clone, Copy, Debug)]
pub enum Noise {
    /// Normal, with this standard deviation.
    Normal(f64),
    /// Normal, while the node gets slower by 30 % over the run; trials of a block are close
    /// together in time, in random order.
    Drift(f64),
    /// Normal, but one trial in 33 is disturbed and 35 % off.
    Outliers(f64),
    /// Student's t with 3 degrees of freedom, times this.
    HeavyTails(f64),
    /// Pods of two kinds: one in five is slower by twice this. With the normal noise of each kind,
    /// trials have this standard deviation.
    TwoKinds(f64),
    /// Log-normal, with this standard deviation: skewed, with a shape of 0.6.
    LogNormal(f64),
    /// Exponential, with this standard deviation: most trials are fast, and some are far slower.
    Exponential(f64),
}

/// Every kind of noise. The logarithms of trials have this standard deviation, to which drift and
/// outliers add theirs; Student's t with 3 degrees of freedom has a standard deviation of the root
/// of 3.
pub fn every_noise(deviation: f64) -> [Noise; 4] {
    [
        Noise::Normal(deviation),
        Noise::Drift(deviation),
        Noise::Outliers(deviation),
        Noise::HeavyTails(deviation / 3.0_f64.sqrt()),
    ]
}

/// A seeded source of chance.
pub struct Chance(ChaCha8Rng);

impl Chance {
    pub fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform between 0 and 1, never 0.
    pub fn uniform(&mut self) -> f64 {
        (f64::from(self.0.next_u32()) + 0.5) / 4_294_967_296.0
    }

    pub fn normal(&mut self) -> f64 {
        let (one, other) = (self.uniform(), self.uniform());
        (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
    }

    /// The deviation of a trial at `when` (0 to 1) of the run; a block takes the share `block` of
    /// the run.
    pub fn trial(&mut self, noise: Noise, when: f64, block: f64) -> f64 {
        match noise {
            Noise::Normal(deviation) => deviation * self.normal(),
            Noise::Drift(deviation) => {
                deviation * self.normal() + 0.3 * (when + block * self.uniform())
            }
            Noise::Outliers(deviation) => {
                let hit = self.uniform() < 1.0 / 33.0;
                deviation * self.normal() + if hit { 0.3 } else { 0.0 }
            }
            Noise::HeavyTails(scale) => {
                let squares: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
                scale * self.normal() / (squares / 3.0).sqrt()
            }
            Noise::TwoKinds(deviation) => {
                let is_slow = self.uniform() < 0.2;
                let slower = if is_slow { 2.0 * deviation } else { 0.0 };
                slower + 0.6 * deviation * self.normal()
            }
            Noise::LogNormal(deviation) => {
                let (value, mean) = ((0.6 * self.normal()).exp(), 0.18_f64.exp());
                let variance = (0.36_f64.exp() - 1.0) * 0.36_f64.exp();
                deviation * (value - mean) / variance.sqrt()
            }
            Noise::Exponential(deviation) => -deviation * self.uniform().ln(),
        }
    }

    /// The ratios of `blocks` blocks whose true ratio is `exp(truth)`.
    pub fn ratios(&mut self, noise: Noise, blocks: u32, truth: f64) -> Vec<f64> {
        let share = 1.0 / f64::from(blocks);
        let ratio = |block: u32| {
            let when = f64::from(block) * share;
            let (base, value) = (
                self.trial(noise, when, share),
                self.trial(noise, when, share),
            );
            (truth + value - base).exp()
        };
        (0..blocks).map(ratio).collect()
    }
}

/// A run of three variants under one workload: the first is the baseline, the others are slower by
/// a factor each.
pub struct SyntheticRun {
    pub blocks: u32,
    /// How every number of a trial scatters.
    pub noise: Noise,
    pub slower: [f64; 2],
    /// Whether the baseline has a twin.
    pub twin: bool,
    /// Numbers of connections; all beyond the first are saturated and equally good.
    pub connections: Vec<u32>,
}

/// The measurements of a synthetic run.
pub struct SyntheticCells {
    spec: BenchmarkRunSpec,
    cells: Vec<LoadCell>,
}

impl SyntheticCells {
    /// The comparisons of the first `blocks` blocks.
    pub fn after(&self, blocks: u32) -> Vec<Comparison> {
        self.planned(blocks, None)
    }

    /// The same if `pilot` of these blocks chose how many there are.
    pub fn planned(&self, blocks: u32, pilot: Option<u32>) -> Vec<Comparison> {
        let first = |found: &LoadCell| {
            let trials = found
                .detail
                .trials
                .iter()
                .filter(|trial| trial.block <= blocks)
                .cloned()
                .collect();
            cell(
                &found.variant,
                found.detail.sweep,
                found.detail.connections,
                trials,
            )
        };
        let cells = Cells {
            loads: self.cells.iter().map(first).collect(),
            ..Cells::default()
        };
        comparisons(&self.spec, "base", &cells, pilot).with_baseline
    }
}

impl SyntheticRun {
    /// A run without a twin, with normal noise, in which `one` is slower by the factor `slower`.
    pub fn new(blocks: u32, noise: f64, slower: f64) -> Self {
        Self {
            blocks,
            noise: Noise::Normal(noise),
            slower: [slower, 1.0],
            twin: false,
            connections: vec![10, 50],
        }
    }

    /// The comparisons of one such run.
    pub fn comparisons(&self, chance: &mut Chance) -> Vec<Comparison> {
        self.measure(chance).after(self.blocks)
    }

    /// The comparisons of one such run in which `one` takes more CPU time by this factor, too.
    pub fn comparisons_with_more_cpu(&self, factor: f64, chance: &mut Chance) -> Vec<Comparison> {
        let mut measured = self.measure(chance);
        let of_one = measured
            .cells
            .iter_mut()
            .filter(|cell| cell.variant == "one");
        for trial in of_one.flat_map(|cell| &mut cell.detail.trials) {
            trial.metrics.cpu = trial.metrics.cpu.map(|cpu| cpu * factor);
        }
        measured.after(self.blocks)
    }

    /// One such run with all of its blocks.
    pub fn measure(&self, chance: &mut Chance) -> SyntheticCells {
        self.measure_to_decide(&[], chance)
    }

    /// Measures one such run with these primary measures, or the default ones if there are none.
    pub fn measure_to_decide(&self, primary: &[&str], chance: &mut Chance) -> SyntheticCells {
        let spec = serde_json::from_value(serde_json::json!({
            "blocks": self.blocks,
            "noiseFloor": self.twin,
            "primaryMeasures": primary,
            "variants": [{"name": "base"}, {"name": "one"}, {"name": "other"}],
            "workloads": [{"name": "hello"}],
            "sweeps": {"warmLatency": {}, "throughput": {"connections": self.connections}},
        }))
        .expect("a spec");
        let cells: Vec<LoadCell> = [
            ("base", 1.0),
            ("one", self.slower[0]),
            ("other", self.slower[1]),
            (TWIN, 1.0),
        ]
        .into_iter()
        .filter(|(name, _)| self.twin || *name != TWIN)
        .flat_map(|(name, factor)| self.cells(name, factor, chance))
        .collect();
        let spec = with_twin(&spec);
        SyntheticCells { spec, cells }
    }

    fn cells(&self, variant: &str, factor: f64, chance: &mut Chance) -> Vec<LoadCell> {
        let warm = (Sweep::WarmLatency, 1, 1.0);
        let loaded = self
            .connections
            .iter()
            .enumerate()
            .map(|(index, connections)| {
                let rate = if index == 0 { 0.5 } else { 1.0 };
                (Sweep::Throughput, *connections, rate)
            });
        std::iter::once(warm)
            .chain(loaded)
            .map(|(sweep, connections, rate)| {
                let trials = (1..=self.blocks).map(|block| self.trial(block, factor, rate, chance));
                cell(variant, sweep, connections, trials.collect())
            })
            .collect()
    }

    fn trial(&self, block: u32, factor: f64, rate: f64, chance: &mut Chance) -> Trial {
        let share = 1.0 / f64::from(self.blocks);
        let when = f64::from(block - 1) * share;
        // A disturbance costs a trial time, CPU and rate.
        let mut longer = || chance.trial(self.noise, when, share).exp();
        Trial {
            block,
            position: 0,
            state: TrialState::Valid,
            reason: None,
            metrics: Metrics {
                requests: 10_000,
                rps: Some(10_000.0 * rate / (factor * longer())),
                p50: Some(100.0 * factor * longer()),
                cpu: Some(50.0 * factor * longer()),
                ..Metrics::default()
            },
        }
    }
}

/// The cell of a variant on `hello`.
pub fn cell(variant: &str, sweep: Sweep, connections: u32, trials: Vec<Trial>) -> LoadCell {
    // Only the median rate selects a point; the interval around it is not used.
    let mut rates: Vec<f64> = trials
        .iter()
        .filter_map(|trial| trial.metrics.rps)
        .collect();
    rates.sort_by(f64::total_cmp);
    let median = f64::midpoint(rates[(rates.len() - 1) / 2], rates[rates.len() / 2]);
    let rps = Some(Spread {
        median,
        low: median,
        high: median,
    });
    let counts = TrialCounts {
        valid: u32::try_from(trials.len()).unwrap(),
        ..TrialCounts::default()
    };
    let detail = LoadDetail {
        sweep,
        connections,
        rate: None,
        errors: 0,
        errors_by_status: std::collections::BTreeMap::new(),
        max_error_share: None,
        fewest_requests: Some(10_000),
        p99_carried: true,
        rps,
        p50_microseconds: None,
        p90_microseconds: None,
        p99_microseconds: None,
        p999_microseconds: None,
        cpu_microseconds_per_request: None,
        log_cpu_microseconds_per_request: None,
        containers_cpu_microseconds_per_request: std::collections::BTreeMap::new(),
        companions_cpu_microseconds_per_request: None,
        cpus_used: None,
        memory_bytes: None,
        additional: std::collections::BTreeMap::new(),
        open_loop: None,
        generator_ceiling_rps: None,
        generator_cpu_share_max: None,
        others_cpu_share_max: None,
        steal_share_max: None,
        connections_busy: None,
        throttled_periods: None,
        throttled_share: None,
        traffic: None,
        parts: std::collections::BTreeMap::new(),
        overrun: None,
        trials,
    };
    let place = Cell {
        variant: variant.into(),
        workload: "hello".into(),
        point: detail.point(),
    };
    LoadCell::new(place, counts, detail, vec![])
}

/// Prints a line of `make selftest`.
#[expect(clippy::print_stdout, reason = "`make selftest` shows the figures")]
pub fn print_figure(name: &str, share: f64, expected: &str) {
    println!("selftest: {name}: {:.1} % ({expected})", share * 100.0);
}

/// The share of runs for whose comparisons `holds` returns true.
pub fn share(run: &SyntheticRun, runs: u32, holds: impl Fn(&[Comparison]) -> bool) -> f64 {
    let mut chance = Chance::new(7);
    let count = (0..runs)
        .filter(|_| holds(&run.comparisons(&mut chance)))
        .count();
    count as f64 / f64::from(runs)
}

/// A primary comparison of latencies on `hello` with these ratios, one per block, without a verdict
/// yet.
pub fn primary(variant: &str, metric: Metric, ratios: &[f64]) -> Comparison {
    let found = Interval::from_ratios(ratios).expect("ratios");
    with_interval(variant, metric, &found, ratios)
}

/// The same with this interval of the ratios.
pub fn with_interval(
    variant: &str,
    metric: Metric,
    found: &Interval,
    ratios: &[f64],
) -> Comparison {
    Comparison {
        variant: variant.to_owned(),
        workload: "hello".into(),
        metric,
        point: Point::WarmLatency,
        primary: true,
        estimate: Estimate::new(found, ratios),
        difference: None,
        p_value: found.p_value,
        adjusted_p_value: found.p_value,
        noise_floor: None,
        verdict: Verdict::Inconclusive,
        untrusted: vec![],
        at_least: None,
        smallest_found: None,
    }
}
