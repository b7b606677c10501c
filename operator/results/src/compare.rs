//! Variants as multiples of the baseline, for all sweeps alike. Ratios are taken within blocks, because both trials
//! of a block saw the node in the same state, and then summarised over blocks and judged as one family.

use std::collections::BTreeMap;

use wasmbench_api::run::{BenchmarkRunSpec, TWIN, Workload, share_of};
use wasmbench_core::rounding::{P_DIGITS, round_number, round_significant};
use wasmbench_core::wire::record::Point;

use crate::all_cells::Cells;
use crate::any_cell::AnyCell;
use crate::comparison::{Comparison, Difference, Estimate, NoiseFloor, factor};
use crate::curve::knee;
use crate::doubt::Reason;
use crate::doubts::FEWEST_BLOCKS;
use crate::judge::{Thresholds, Verdict, judge};
use crate::measure::{Judged, Measured as _, Metric, Unit};
use crate::primary::{self, Place};
use crate::statistics::ratio::{noise_of, of_findings, paired_differences, smallest_found};
use crate::statistics::{Interval, LEVEL, false_discovery, paired_ratios};

/// What was compared in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparisons {
    /// The variants with the baseline.
    pub with_baseline: Vec<Comparison>,
    /// The baseline with its twin.
    pub noise_floors: Vec<NoiseFloor>,
}

/// All ratios of a run with their verdicts, by workload, variant and measure. Points that are not ranked on both
/// sides are not compared.
///
/// Throughput is compared at the *baseline's* knee, the same number of connections for every variant:
/// comparing each at its own peak would compare different loads and would let the noisiest variant
/// choose its luckiest point. The baseline's own peak is such a luckiest point too, when the curve is
/// flat: there the others would seem slower. CPU per request and memory are compared at the knee as
/// well, or in the warm-latency sweep when there is no throughput. Latency from the schedule is compared
/// at equal percentages of each variant's own peak.
pub fn comparisons(spec: &BenchmarkRunSpec, baseline: &str, cells: &Cells) -> Comparisons {
    let (twins, found): (Vec<Ratio<'_>>, Vec<Ratio<'_>>) = ratios(spec, baseline, cells)
        .into_iter()
        .partition(|found| found.variant == TWIN);
    let primary = primary::of(spec, found.iter().map(Ratio::place));
    let judged = judged(spec, &found, |one| primary.contains(&one.place()));
    let floors = floors(&twins);
    let beside_floor = |mut comparison: Comparison| {
        let floor = floors.iter().find(|floor| floor.is_beside(&comparison));
        comparison.noise_floor = floor.and_then(|floor| floor.factor);
        if floor.is_some_and(|floor| floor.differs) {
            comparison.untrusted.push(Reason::NodeNoisy);
            comparison.untrusted.dedup();
        }
        comparison
    };
    Comparisons {
        with_baseline: judged.into_iter().map(beside_floor).collect(),
        noise_floors: floors,
    }
}

/// The twin is the baseline: a difference is a false one in so many runs of a thousand, however many numbers are looked at.
const TWIN_LEVEL: f64 = 0.01;

/// What the twins show.
fn floors(twins: &[Ratio<'_>]) -> Vec<NoiseFloor> {
    let p_values: Vec<f64> = twins.iter().map(|twin| twin.interval.p_value).collect();
    let adjusted = false_discovery::adjusted(&p_values);
    let floor = |(twin, p_value): (&Ratio<'_>, f64)| twin.floor(p_value <= TWIN_LEVEL);
    twins.iter().zip(adjusted).map(floor).collect()
}

/// Primary and secondary ratios are a family each, so that the ones cost the others no power.
fn judged<'a>(
    spec: &BenchmarkRunSpec,
    found: &[Ratio<'a>],
    is_primary: impl Fn(&Ratio<'a>) -> bool,
) -> Vec<Comparison> {
    let thresholds = Thresholds {
        minimum_effect: minimum_effect(spec),
        is_gate: false,
    };
    let (primary, secondary): (Vec<usize>, Vec<usize>) =
        (0..found.len()).partition(|index| is_primary(&found[*index]));
    let mut all: BTreeMap<usize, Comparison> = BTreeMap::new();
    for (members, primary) in [(primary, true), (secondary, false)] {
        let p_values: Vec<f64> = members
            .iter()
            .map(|one| found[*one].judged_interval().p_value)
            .collect();
        let adjusted = false_discovery::adjusted(&p_values);
        let family = Family {
            findings: adjusted.iter().filter(|p_value| **p_value <= LEVEL).count(),
            all: members.len(),
        };
        for (one, adjusted_p) in members.into_iter().zip(adjusted) {
            let comparison = found[one].judged(adjusted_p, thresholds, family);
            all.insert(
                one,
                Comparison {
                    primary,
                    ..comparison
                },
            );
        }
    }
    all.into_values().collect()
}

/// The smallest difference that matters, as a logarithm: 5 % reaches from 1/1.05 to 1.05, so that
/// the inverse of a ratio gets the same verdict.
pub fn minimum_effect(spec: &BenchmarkRunSpec) -> f64 {
    // validate refuses what is no share; a difference of any size matters then.
    libm::log1p(share_of(&spec.minimum_effect).unwrap_or_default())
}

/// The smallest difference of a measure that matters, in its unit, where it is judged by that. Of the share that
/// succeeds it is a tenth of what may fail: whoever bears one request in a hundred looks at one in a thousand.
fn smallest_difference(
    spec: &BenchmarkRunSpec,
    workload: &Workload,
    metric: Metric,
) -> Option<f64> {
    let smallest = spec.minimum_difference.unwrap_or_default();
    match (metric.measure().judged, metric.measure().unit) {
        (Judged::Ratio, _) | (_, Unit::PerSecond) => None,
        (_, Unit::Share) => Some(workload.max_error_share()? / 10.0),
        (_, Unit::Microseconds) => Some(f64::from(smallest.start_milliseconds) * 1e3),
        (_, Unit::Bytes) => Some(f64::from(smallest.memory_kibibytes) * 1024.0),
    }
}

/// The numbers of one measure of one cell, by block.
struct Series<'a> {
    cell: &'a dyn AnyCell,
    metric: Metric,
    by_block: BTreeMap<u32, f64>,
}

impl Series<'_> {
    fn is_same_point(&self, other: &Self) -> bool {
        self.metric == other.metric
            && self.cell.point() == other.cell.point()
            && self.cell.workload() == other.cell.workload()
    }
}

/// The comparisons of a run, which are looked at together.
#[derive(Clone, Copy)]
struct Family {
    /// Those whose adjusted p-value says that there is a difference.
    findings: usize,
    all: usize,
}

/// A ratio that has no verdict yet.
struct Ratio<'a> {
    variant: &'a str,
    workload: &'a str,
    point: Point,
    metric: Metric,
    /// The ratio of each block.
    per_block: Vec<f64>,
    /// What they come to.
    interval: Interval,
    /// The difference, of what is judged by it, with the smallest one that matters.
    difference: Option<(Interval, f64)>,
    /// What speaks against it.
    untrusted: Vec<Reason>,
}

impl Ratio<'_> {
    fn place(&self) -> Place<'_> {
        (self.variant, self.workload, self.point, self.metric)
    }

    /// What it shows as the baseline's self.
    fn floor(&self, differs: bool) -> NoiseFloor {
        NoiseFloor {
            workload: self.workload.to_owned(),
            metric: self.metric,
            point: self.point,
            estimate: Estimate::of(&self.interval, &self.per_block),
            p_value: round_significant(self.interval.p_value, P_DIGITS),
            differs,
            factor: self.interval.farthest().map(factor),
        }
    }

    /// What is judged: the difference, or the ratio.
    fn judged_interval(&self) -> &Interval {
        match (self.metric.measure().judged, &self.difference) {
            (Judged::Difference, Some((difference, _))) => difference,
            (Judged::Ratio | Judged::RatioOrDifference | Judged::Difference, _) => &self.interval,
        }
    }

    fn verdict(&self, adjusted_p: f64, thresholds: Thresholds) -> Verdict {
        let Some((difference, smallest)) = &self.difference else {
            return judge(self.metric, &self.interval, adjusted_p, thresholds);
        };
        let of_difference = Thresholds {
            minimum_effect: *smallest,
            ..thresholds
        };
        match self.metric.measure().judged {
            Judged::Difference => judge(self.metric, difference, adjusted_p, of_difference),
            Judged::Ratio | Judged::RatioOrDifference => {
                if difference
                    .farthest()
                    .is_some_and(|farthest| farthest <= *smallest)
                {
                    Verdict::Equivalent
                } else {
                    judge(self.metric, &self.interval, adjusted_p, thresholds)
                }
            }
        }
    }

    fn judged(&self, adjusted_p: f64, thresholds: Thresholds, family: Family) -> Comparison {
        let verdict = self.verdict(adjusted_p, thresholds);
        let near_end = |interval: &Interval| {
            let near_end = self.near_end(interval, family);
            near_end.filter(|_| verdict.is_difference())
        };
        let is_judged = self.metric.measure().judged == Judged::Difference;
        let difference = self
            .difference
            .as_ref()
            .map(|(interval, smallest)| Difference {
                at_least: near_end(interval).filter(|_| is_judged).map(round_number),
                ..Difference::of(interval, *smallest)
            });
        Comparison {
            variant: self.variant.to_owned(),
            workload: self.workload.to_owned(),
            metric: self.metric,
            point: self.point,
            estimate: Estimate::of(&self.interval, &self.per_block),
            difference,
            p_value: round_significant(self.judged_interval().p_value, P_DIGITS),
            adjusted_p_value: round_significant(adjusted_p, P_DIGITS),
            primary: false,
            noise_floor: None,
            verdict,
            untrusted: self.untrusted.clone(),
            at_least: near_end(&self.interval).filter(|_| !is_judged).map(factor),
            smallest_found: self.smallest_found(family),
        }
    }

    /// The end of an interval that is nearer to 0, corrected for having been found.
    fn near_end(&self, interval: &Interval, Family { findings, all }: Family) -> Option<f64> {
        let half_width = of_findings(interval.half_width?, self.blocks(), findings, all);
        Some((interval.estimate.abs() - half_width).max(0.0))
    }

    fn smallest_found(&self, family: Family) -> Option<f64> {
        let noise = noise_of(self.interval.half_width?, self.blocks())?;
        smallest_found(noise, self.blocks(), family.all).map(factor)
    }

    fn blocks(&self) -> u32 {
        u32::try_from(self.per_block.len()).unwrap_or(u32::MAX)
    }
}

fn ratios<'a>(spec: &'a BenchmarkRunSpec, baseline: &str, cells: &'a Cells) -> Vec<Ratio<'a>> {
    let of_cell = |cell: &'a dyn AnyCell| {
        let series = cell.series().into_iter();
        series.map(move |(metric, by_block)| Series {
            cell,
            metric,
            by_block,
        })
    };
    let ranked = cells.all().filter(|cell| cell.is_ranked());
    let all: Vec<Series<'_>> = ranked.flat_map(of_cell).collect();
    let (bases, others): (Vec<Series<'_>>, Vec<Series<'_>>) = all
        .into_iter()
        .partition(|series| series.cell.variant() == baseline);
    let base_of = |one: &Series<'_>| {
        let base = bases.iter().find(|base| base.is_same_point(one))?;
        let is_twin =
            |other: &&Series<'_>| other.cell.variant() == TWIN && other.is_same_point(one);
        let twin = others.iter().find(is_twin);
        let twin = twin.filter(|_| one.cell.variant() != TWIN);
        let both = [Some(base), twin].into_iter().flatten();
        let cells: Vec<&dyn AnyCell> = both.map(|series| series.cell).collect();
        let numbers = pooled(&base.by_block, twin.map(|twin| &twin.by_block));
        Some((numbers, cells))
    };
    let mut found = vec![];
    for workload in &spec.workloads {
        let knee = knee(&cells.loads, baseline, &workload.name).map(AnyCell::point);
        for variant in &spec.variants {
            let mut of_both: Vec<Ratio<'_>> = others
                .iter()
                .filter(|one| one.cell.variant() == variant.name)
                .filter(|one| one.cell.workload() == workload.name)
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

/// The baseline's number of each block: with the twin's it is the geometric mean of both, which scatters less. A twin
/// is a second trial of the same thing, and what it tells about the node it tells best in the ratios.
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
    base_cells: &[&dyn AnyCell],
) -> Option<Ratio<'a>> {
    let smallest = smallest_difference(spec, workload, one.metric);
    let effect = minimum_effect(spec);
    let per_block = paired_ratios(&one.by_block, base);
    let cells = || base_cells.iter().copied().chain([one.cell]);
    let against = [
        (
            Reason::TrialsFailed,
            cells().any(AnyCell::is_partly_measured),
        ),
        (
            Reason::TooFewBlocks,
            per_block.len() < FEWEST_BLOCKS as usize,
        ),
        (Reason::NodeNoisy, cells().any(AnyCell::is_noisy)),
        (Reason::NoiseUnknown, cells().any(AnyCell::is_noise_unknown)),
        (
            Reason::NotSteady,
            cells().any(|cell| cell.is_unsteady(effect)),
        ),
    ];
    let against = against.into_iter().filter(|(_, is_so)| *is_so);
    Some(Ratio {
        untrusted: against.map(|(reason, _)| reason).collect(),
        variant: one.cell.variant(),
        workload: one.cell.workload(),
        point: one.cell.point(),
        metric: one.metric,
        interval: Interval::of(&per_block)?,
        difference: smallest.and_then(|smallest| {
            let differences = paired_differences(&one.by_block, base);
            Some((Interval::of_differences(&differences)?, smallest))
        }),
        per_block,
    })
}

/// Whether a measure is compared at a point. `knee` is that of the baseline.
fn is_compared(spec: &BenchmarkRunSpec, metric: Metric, point: Point, knee: Option<Point>) -> bool {
    match metric {
        Metric::ThroughputRps => Some(point) == knee,
        // No throughput point of the baseline is valid: its warm point must not stand in for it.
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
