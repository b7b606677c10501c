//! What is compared in a run, before any verdict: ratios of variants to the baseline within blocks,
//! at which points, and what speaks against each ratio.

use std::collections::{BTreeMap, BTreeSet};

use wasmbench_api::run::{BenchmarkRunSpec, TWIN, Workload, share_of};
use wasmbench_core::wire::record::Point;

use crate::all_cells::Cells;
use crate::cell::AnyCell;
use crate::curve::knee;
use crate::doubt::Reason;
use crate::load::LoadCell;
use crate::measure::{Judged, Measured as _, Metric, Unit};
use crate::primary::Place;
use crate::statistics::ratio::paired_differences;
use crate::statistics::{Interval, mean, paired_ratios};

/// With fewer blocks only huge differences can be distinguished from chance: the interval of 4
/// blocks is a quarter wider than that of 5, and that of 3 twice as wide.
pub const FEWEST_BLOCKS: u32 = 5;

/// The smallest difference that matters, as a logarithm: 5 % stands for 1/1.05 to 1.05, so that the
/// inverse of a ratio gets the same verdict.
pub fn minimum_effect(spec: &BenchmarkRunSpec) -> f64 {
    // validate rejects anything that is not a share; a difference of any size would matter then.
    libm::log1p(share_of(&spec.minimum_effect).unwrap_or_default())
}

/// The smallest difference of starts that matters, in microseconds.
pub fn smallest_start(spec: &BenchmarkRunSpec) -> f64 {
    let smallest = spec.minimum_difference.unwrap_or_default();
    f64::from(smallest.start_milliseconds) * 1e3
}

/// The smallest difference of a measure that matters, in its unit, for measures that are judged by
/// it. For the share of successful requests it is a tenth of the share that may fail: users who
/// tolerate one failed request in a hundred care about one in a thousand.
fn smallest_difference(
    spec: &BenchmarkRunSpec,
    workload: &Workload,
    metric: Metric,
) -> Option<f64> {
    let smallest = spec.minimum_difference.unwrap_or_default();
    match metric.measure().judged {
        Judged::Ratio => return None,
        Judged::Difference | Judged::RatioOrDifference => {}
    }
    match metric.measure().unit {
        Unit::PerSecond => None,
        Unit::Share => Some(workload.max_error_share()? / 10.0),
        Unit::Microseconds => Some(smallest_start(spec)),
        Unit::Bytes => Some(f64::from(smallest.memory_kibibytes) * 1024.0),
    }
}

/// The smallest change of a number that matters, as a logarithm; `before` is the number before the
/// change. For measures judged by their difference it is the smallest difference, for those judged
/// by either the larger of both.
pub fn smallest_change(
    spec: &BenchmarkRunSpec,
    workload: &str,
    metric: Metric,
    before: f64,
) -> f64 {
    let effect = minimum_effect(spec);
    let workload = spec.workloads.iter().find(|one| one.name == workload);
    let smallest = workload.and_then(|workload| smallest_difference(spec, workload, metric));
    let Some(smallest) = smallest.filter(|_| before > 0.0) else {
        return effect;
    };
    let share = libm::log1p(smallest / before);
    match metric.measure().judged {
        Judged::Difference => share,
        Judged::Ratio | Judged::RatioOrDifference => effect.max(share),
    }
}

/// A ratio that does not have a verdict yet.
pub struct Ratio<'a> {
    /// Name of the variant.
    pub variant: &'a str,
    /// Name of the workload.
    pub workload: &'a str,
    /// The point of the sweep.
    pub point: Point,
    /// The measure.
    pub metric: Metric,
    /// The ratio of each block.
    pub per_block: Vec<f64>,
    /// The interval of the ratios.
    pub interval: Interval,
    /// The difference, for measures that are judged by it, with the smallest difference that
    /// matters.
    pub difference: Option<(Interval, f64)>,
    /// The smallest change of the baseline's number that matters, as a logarithm.
    pub matters: f64,
    /// What speaks against it.
    pub untrusted: Vec<Reason>,
}

impl Ratio<'_> {
    /// What the ratio compares, and where.
    pub fn place(&self) -> Place<'_> {
        (self.variant, self.workload, self.point, self.metric)
    }

    /// Blocks in which both were measured.
    pub fn blocks(&self) -> u32 {
        u32::try_from(self.per_block.len()).unwrap_or(u32::MAX)
    }
}

/// The numbers of one measure of one cell, by block.
struct Series<'a> {
    cell: &'a AnyCell,
    metric: Metric,
    by_block: BTreeMap<u32, f64>,
}

impl Series<'_> {
    fn is_same_point(&self, other: &Self) -> bool {
        self.metric == other.metric
            && self.cell.point() == other.cell.point()
            && self.cell.workload == other.cell.workload
    }
}

/// All ratios of a run, by workload, then variant, then measure.
pub fn ratios<'a>(spec: &'a BenchmarkRunSpec, baseline: &str, cells: &'a Cells) -> Vec<Ratio<'a>> {
    let of_cell = |cell: &'a AnyCell| {
        let series = cell.detail.series().into_iter();
        series.map(move |(metric, by_block)| Series {
            cell,
            metric,
            by_block,
        })
    };
    let ranked = cells.all().filter(|cell| cell.ranked);
    let all: Vec<Series<'_>> = ranked.flat_map(of_cell).collect();
    let (bases, others): (Vec<Series<'_>>, Vec<Series<'_>>) = all
        .into_iter()
        .partition(|series| series.cell.variant == baseline);
    let base_of = |one: &Series<'_>| {
        let base = bases.iter().find(|base| base.is_same_point(one))?;
        let is_twin = |other: &&Series<'_>| other.cell.variant == TWIN && other.is_same_point(one);
        let twin = others.iter().find(is_twin);
        let twin = twin.filter(|_| one.cell.variant != TWIN);
        let both = [Some(base), twin].into_iter().flatten();
        let cells: Vec<&AnyCell> = both.map(|series| series.cell).collect();
        let numbers = pooled(&base.by_block, twin.map(|twin| &twin.by_block));
        Some((numbers, cells))
    };
    let mut found = vec![];
    for workload in &spec.workloads {
        let knee = knee(&cells.loads, baseline, &workload.name).map(LoadCell::point);
        for variant in &spec.variants {
            let mut of_both: Vec<Ratio<'_>> = others
                .iter()
                .filter(|one| one.cell.variant == variant.name)
                .filter(|one| one.cell.workload == workload.name)
                .filter(|one| is_compared(spec, one.metric, one.cell.point(), knee))
                .filter_map(|one| {
                    let (base, cells) = base_of(one)?;
                    ratio((spec, workload), one, &base, &cells)
                })
                .collect();
            of_both.sort_by_key(|ratio| (ratio.metric, ratio.point));
            found.extend(of_both);
        }
    }
    found
}

/// The baseline's number of each block. With a twin it is the geometric mean of both, which
/// scatters less: a twin is a second trial of the same thing, and is used best in the ratios.
pub fn pooled(base: &BTreeMap<u32, f64>, twin: Option<&BTreeMap<u32, f64>>) -> BTreeMap<u32, f64> {
    let of_block = |(block, own): (&u32, &f64)| {
        let twin = twin.and_then(|twin| twin.get(block));
        (*block, twin.map_or(*own, |twin| (own * twin).sqrt()))
    };
    base.iter().map(of_block).collect()
}

fn ratio<'a>(
    (spec, workload): (&BenchmarkRunSpec, &Workload),
    one: &Series<'a>,
    base: &BTreeMap<u32, f64>,
    base_cells: &[&AnyCell],
) -> Option<Ratio<'a>> {
    let smallest = smallest_difference(spec, workload, one.metric);
    let effect = minimum_effect(spec);
    let per_block = paired_ratios(&one.by_block, base);
    let of_base: Vec<f64> = base.values().copied().collect();
    let cells = base_cells.iter().copied().chain([one.cell]);
    let mut untrusted: BTreeSet<Reason> = cells
        .flat_map(|cell| cell.untrusted_because(effect))
        .collect();
    if per_block.len() < FEWEST_BLOCKS as usize {
        untrusted.insert(Reason::TooFewBlocks);
    }
    Some(Ratio {
        untrusted: untrusted.into_iter().collect(),
        variant: &one.cell.variant,
        workload: &one.cell.workload,
        point: one.cell.point(),
        metric: one.metric,
        interval: Interval::of(&per_block)?,
        difference: smallest.and_then(|smallest| {
            let differences = paired_differences(&one.by_block, base);
            Some((Interval::of_differences(&differences)?, smallest))
        }),
        matters: smallest_change(spec, &workload.name, one.metric, mean(&of_base)),
        per_block,
    })
}

/// Whether a measure is compared at a point. `knee` is the baseline's.
fn is_compared(spec: &BenchmarkRunSpec, metric: Metric, point: Point, knee: Option<Point>) -> bool {
    match metric {
        Metric::ThroughputRps => Some(point) == knee,
        // If no throughput point of the baseline is valid, its warm point must not replace it.
        Metric::CpuPerRequest | Metric::Memory | Metric::Succeeded
            if spec.sweeps.throughput.is_some() =>
        {
            Some(point) == knee
        }
        Metric::CpuPerRequest
        | Metric::Memory
        | Metric::Succeeded
        | Metric::WarmP50
        | Metric::ColdStartListening
        | Metric::ColdStartAnswer
        | Metric::OpenLoopP50
        | Metric::OpenLoopP99
        | Metric::MemoryPerInstance => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_of_a_start_is_milliseconds_and_of_small_memory_kilobytes() {
        let spec: BenchmarkRunSpec = serde_json::from_value(serde_json::json!({
            "variants": [{"name": "native", "preset": "native"}],
            "workloads": [{"name": "hello", "path": "/"}],
            "sweeps": {"coldStart": {"samples": 5}},
        }))
        .unwrap();
        let change = |metric, before| smallest_change(&spec, "hello", metric, before).exp() - 1.0;
        let close = |one: f64, other: f64| assert!((one - other).abs() < 1e-9, "{one}, {other}");
        // 10 ms of 200 ms, and of 2 s.
        close(change(Metric::ColdStartListening, 200_000.0), 0.05);
        close(change(Metric::ColdStartListening, 2_000_000.0), 0.005);
        // 512 KiB of 1 MiB, and 5 % of 1 GiB.
        close(change(Metric::Memory, 1_048_576.0), 0.5);
        close(change(Metric::Memory, 1_073_741_824.0), 0.05);
        close(change(Metric::ThroughputRps, 1.0), 0.05);
    }
}
