//! Variants as multiples of the baseline. Ratios are taken within blocks, because both trials of a
//! block saw the node in the same state, and then summarised over blocks and judged.

use std::collections::BTreeMap;

use wasmbench_api::run::{BenchmarkRunSpec, TWIN, share_of};
use wasmbench_core::rounding::{P_DIGITS, SUMMARY_DIGITS, round_significant};

use crate::cell::CellSummary;
use crate::comparison::{Comparison, NoiseFloor};
use crate::curve::knee;
use crate::judge::{Thresholds, judge};
use crate::measure::{Metric, Sweep};
use crate::statistics::{LogInterval, false_discovery, paired_ratios};
use crate::trial::TrialState;

/// What was compared in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparisons {
    /// The variants with the baseline.
    pub with_baseline: Vec<Comparison>,
    /// The baseline with its twin.
    pub noise_floors: Vec<NoiseFloor>,
    /// The p-values of comparisons made elsewhere, adjusted together with those made here.
    pub others_adjusted: Vec<f64>,
}

/// All ratios of a run with their verdicts, by workload and variant in the order of the spec. Points
/// that are not ranked on both sides are not compared.
///
/// Throughput is compared at the *baseline's* knee, the same number of connections for every variant:
/// comparing each at its own peak would compare different loads and would let the noisiest variant
/// choose its luckiest point. The baseline's own peak is such a luckiest point too, when the curve is
/// flat: there the others would seem slower. CPU per request and memory are compared at the knee as
/// well, or in the warm-latency sweep when there is no throughput. Latency from the schedule is compared
/// at equal percentages of each variant's own peak.
///
/// `others` are the p-values of the run's comparisons that are no loads: what is looked at together
/// is adjusted together.
pub fn comparisons(
    spec: &BenchmarkRunSpec,
    baseline: &str,
    cells: &[CellSummary],
    others: &[f64],
) -> Comparisons {
    let (twins, found): (Vec<Measured<'_>>, Vec<Measured<'_>>) = spec
        .workloads
        .iter()
        .flat_map(|workload| measured(spec, baseline, &workload.name, cells))
        .partition(|found| found.variant == TWIN);
    let p_values = found.iter().map(|found| found.interval.p_value);
    let p_values: Vec<f64> = p_values.chain(others.iter().copied()).collect();
    let mut adjusted = false_discovery::adjusted(&p_values);
    let others_adjusted = adjusted.split_off(found.len());
    let minimum_effect = minimum_effect(spec);
    let judged = found.into_iter().zip(adjusted).map(|(found, adjusted_p)| {
        let twin = twins.iter().find(|twin| twin.is_of(&found));
        let thresholds = Thresholds {
            minimum_effect,
            noise_floor: twin.and_then(|twin| twin.interval.farthest()),
        };
        found.judged(adjusted_p, thresholds)
    });
    Comparisons {
        with_baseline: judged.collect(),
        noise_floors: twins.iter().map(Measured::floor).collect(),
        others_adjusted,
    }
}

/// The smallest difference that matters, as a logarithm: 5 % reaches from 1/1.05 to 1.05, so that
/// the inverse of a ratio gets the same verdict.
pub fn minimum_effect(spec: &BenchmarkRunSpec) -> f64 {
    // validate refuses what is no share; a difference of any size matters then.
    libm::log1p(share_of(&spec.minimum_effect).unwrap_or_default())
}

/// A ratio that has no verdict yet.
pub struct Measured<'a> {
    /// Name of the variant.
    pub variant: &'a str,
    /// The baseline's cell.
    pub base: &'a CellSummary,
    /// What is compared.
    pub metric: Metric,
    /// The ratio of each block.
    pub ratios: Vec<f64>,
    /// What they come to.
    pub interval: LogInterval,
}

impl Measured<'_> {
    fn is_of(&self, other: &Self) -> bool {
        self.metric == other.metric
            && self.base.workload == other.base.workload
            && self.base.percent_of_peak == other.base.percent_of_peak
    }

    /// The noise floor that it shows, as the baseline's self.
    fn floor(&self) -> NoiseFloor {
        let round = |value| round_significant(value, SUMMARY_DIGITS);
        let ratio = |log| round(libm::exp(log));
        NoiseFloor {
            workload: self.base.workload.clone(),
            metric: self.metric,
            sweep: self.base.sweep,
            connections: self.base.connections,
            percent_of_peak: self.base.percent_of_peak,
            ratio: ratio(self.interval.estimate),
            low: self.interval.low().map(ratio),
            high: self.interval.high().map(ratio),
            factor: self.interval.farthest().map(ratio),
            blocks: u32::try_from(self.ratios.len()).unwrap_or(u32::MAX),
            per_block: self.ratios.iter().copied().map(round).collect(),
        }
    }

    fn judged(self, adjusted_p: f64, thresholds: Thresholds) -> Comparison {
        let round = |value| round_significant(value, SUMMARY_DIGITS);
        let ratio = |log| round(libm::exp(log));
        Comparison {
            variant: self.variant.to_owned(),
            workload: self.base.workload.clone(),
            metric: self.metric,
            sweep: self.base.sweep,
            connections: self.base.connections,
            percent_of_peak: self.base.percent_of_peak,
            ratio: ratio(self.interval.estimate),
            low: self.interval.low().map(ratio),
            high: self.interval.high().map(ratio),
            p_value: round_significant(self.interval.p_value, P_DIGITS),
            adjusted_p_value: round_significant(adjusted_p, P_DIGITS),
            noise_floor: thresholds.noise_floor.map(ratio),
            verdict: judge(self.metric, &self.interval, adjusted_p, thresholds),
            blocks: u32::try_from(self.ratios.len()).unwrap_or(u32::MAX),
            per_block: self.ratios.into_iter().map(round).collect(),
        }
    }
}

fn measured<'a>(
    spec: &'a BenchmarkRunSpec,
    baseline: &str,
    workload: &str,
    cells: &'a [CellSummary],
) -> Vec<Measured<'a>> {
    let warm = find(cells, baseline, workload, |c| c.sweep == Sweep::WarmLatency);
    let knee = knee(cells, baseline, workload);
    // No throughput point of the baseline is valid: its warm point must not stand in for it.
    let resources = if spec.sweeps.throughput.is_some() {
        knee
    } else {
        warm
    };
    let metrics = [
        (Metric::ThroughputRps, knee),
        (Metric::WarmP50, warm),
        (Metric::CpuPerRequest, resources),
        (Metric::Memory, resources),
    ];
    let loads = metrics
        .into_iter()
        .filter_map(|(metric, base)| Some((metric, base?)));
    let rates = cells.iter().filter(|c| {
        c.ranked && c.sweep == Sweep::OpenLoop && c.variant == baseline && c.workload == workload
    });
    let rates = rates.flat_map(|base| {
        let p99 = base.p99_carried.then_some((Metric::OpenLoopP99, base));
        std::iter::once((Metric::OpenLoopP50, base)).chain(p99)
    });
    let bases: Vec<(Metric, &CellSummary)> = loads.chain(rates).collect();
    let others = spec.variants.iter().filter(|v| v.name != baseline);
    others
        .flat_map(|variant| {
            bases
                .iter()
                .filter_map(|(metric, base)| compare(*metric, base, &variant.name, cells))
        })
        .collect()
}

fn find<'a>(
    cells: &'a [CellSummary],
    variant: &str,
    workload: &str,
    at: impl Fn(&CellSummary) -> bool,
) -> Option<&'a CellSummary> {
    cells
        .iter()
        .find(|c| c.ranked && c.variant == variant && c.workload == workload && at(c))
}

fn compare<'a>(
    metric: Metric,
    base: &'a CellSummary,
    variant: &'a str,
    cells: &[CellSummary],
) -> Option<Measured<'a>> {
    let point = |c: &CellSummary| (c.sweep, c.connections, c.percent_of_peak);
    let same_point = |c: &CellSummary| point(c) == point(base);
    let cell = find(cells, variant, &base.workload, same_point)?;
    // A p99 of too few requests is made of single ones.
    if metric == Metric::OpenLoopP99 && !cell.p99_carried {
        return None;
    }
    let ratios = paired_ratios(&by_block(metric, cell), &by_block(metric, base));
    Some(Measured {
        variant,
        base,
        metric,
        interval: LogInterval::of(&ratios)?,
        ratios,
    })
}

/// The number of each valid trial of a load, by block.
pub fn by_block(metric: Metric, cell: &CellSummary) -> BTreeMap<u32, f64> {
    let valid = cell.trials.iter();
    let valid = valid.filter(|trial| trial.state == TrialState::Valid);
    valid
        .filter_map(|trial| Some((trial.block, trial.metrics.of(metric)?)))
        .collect()
}
