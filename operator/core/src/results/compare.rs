//! Variants as multiples of the baseline. Ratios are taken within blocks, because both trials of a
//! block saw the node in the same state, and then summarised over blocks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_api::BenchmarkRunSpec;

use super::stats::{Spread, paired_ratios, round_significant};
use super::summary::{CellSummary, Sweep};
use super::trial::{Metrics, SUMMARY_DIGITS, TrialState};

/// What is compared.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Metric {
    /// Successful requests per second: more is better.
    ThroughputRps,
    /// Median latency in the warm-latency sweep: less is better.
    WarmP50,
    /// CPU time of the subject's pod per request: less is better.
    CpuPerRequest,
    /// Memory of the subject's pod: less is better.
    Memory,
}

impl Metric {
    /// The metric as a noun for people.
    pub fn noun(self) -> &'static str {
        match self {
            Self::ThroughputRps => "throughput",
            Self::WarmP50 => "warm p50 latency",
            Self::CpuPerRequest => "CPU per request",
            Self::Memory => "memory",
        }
    }

    fn of(self, metrics: &Metrics) -> Option<f64> {
        match self {
            Self::ThroughputRps => metrics.rps,
            Self::WarmP50 => metrics.p50,
            Self::CpuPerRequest => metrics.cpu,
            Self::Memory => metrics.memory.map(|bytes| bytes as f64),
        }
    }
}

/// A metric of a variant as a multiple of the baseline's.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// What is compared.
    pub metric: Metric,
    /// The sweep in which it is compared.
    pub sweep: Sweep,
    /// Connections at which it is compared: in the throughput sweep those of the baseline's peak.
    pub connections: u32,
    /// The ratios of the blocks: median, smallest, largest.
    pub ratio: Spread,
    /// Blocks in which both were measured.
    pub blocks: u32,
    /// The ratio of each of these blocks, in the order of the blocks.
    pub per_block: Vec<f64>,
}

/// All ratios of a run, by workload and variant in the order of the spec. Points that are not
/// ranked on both sides are not compared.
///
/// Throughput is compared at the number of connections at which the *baseline's* median rate
/// peaks, the same for every variant: comparing each at its own peak would compare different
/// loads and would let the noisiest variant choose its luckiest point. CPU per request and memory
/// are compared at that point as well, or in the warm-latency sweep when there is no throughput.
pub fn comparisons(
    spec: &BenchmarkRunSpec,
    baseline: &str,
    cells: &[CellSummary],
) -> Vec<Comparison> {
    let mut found = vec![];
    for workload in &spec.workloads {
        let warm = find(cells, baseline, &workload.name, |c| {
            c.sweep == Sweep::WarmLatency
        });
        let peak = peak(cells, baseline, &workload.name);
        // No throughput point of the baseline is valid: its warm point must not stand in for it.
        let resources = if spec.sweeps.throughput.is_some() {
            peak
        } else {
            warm
        };
        let metrics = [
            (Metric::ThroughputRps, peak),
            (Metric::WarmP50, warm),
            (Metric::CpuPerRequest, resources),
            (Metric::Memory, resources),
        ];
        for variant in spec
            .variants
            .iter()
            .filter(|variant| variant.name != baseline)
        {
            let compared = metrics.iter().filter_map(|(metric, base)| {
                compare(*metric, base.as_ref()?, &variant.name, cells)
            });
            found.extend(compared);
        }
    }
    found
}

/// The ranked throughput point of a variant with the highest median rate, the lowest number of
/// connections among equals.
pub fn peak<'a>(
    cells: &'a [CellSummary],
    variant: &str,
    workload: &str,
) -> Option<&'a CellSummary> {
    let of_both = |c: &&CellSummary| {
        c.ranked && c.sweep == Sweep::Throughput && c.variant == variant && c.workload == workload
    };
    let rate = |cell: &CellSummary| cell.rps.map_or(0.0, |rps| rps.median);
    cells.iter().filter(of_both).reduce(
        |best, cell| {
            if rate(cell) > rate(best) { cell } else { best }
        },
    )
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

fn compare(
    metric: Metric,
    base: &CellSummary,
    variant: &str,
    cells: &[CellSummary],
) -> Option<Comparison> {
    let same_point = |c: &CellSummary| c.sweep == base.sweep && c.connections == base.connections;
    let cell = find(cells, variant, &base.workload, same_point)?;
    let ratios = paired_ratios(&by_block(metric, cell), &by_block(metric, base));
    let round = |value| round_significant(value, SUMMARY_DIGITS);
    Some(Comparison {
        variant: variant.to_owned(),
        workload: base.workload.clone(),
        metric,
        sweep: base.sweep,
        connections: base.connections,
        ratio: Spread::of(ratios.iter().copied())?.map(round),
        blocks: u32::try_from(ratios.len()).unwrap_or(u32::MAX),
        per_block: ratios.into_iter().map(round).collect(),
    })
}

fn by_block(metric: Metric, cell: &CellSummary) -> BTreeMap<u32, f64> {
    let valid = cell
        .trials
        .iter()
        .filter(|trial| trial.state == TrialState::Valid);
    valid
        .filter_map(|trial| Some((trial.block, metric.of(&trial.metrics)?)))
        .collect()
}
