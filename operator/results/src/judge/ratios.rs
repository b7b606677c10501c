//! What is compared in a run, before any verdict: ratios of variants to the baseline within blocks,
//! at which points, and what speaks against each ratio.

use std::collections::BTreeSet;

use wasmbench_api::run::{BenchmarkRunSpec, TWIN, Workload};
use wasmbench_model::wire::record::Point;

use crate::cells::Cells;
use crate::cells::any::AnyCell;
use crate::cells::curve::knee;
use crate::cells::load::LoadCell;
use crate::judge::known::{Known, pooled_ends};
use crate::statistics::ratio::pairs_with_both;
use crate::statistics::{Interval, OneSided, Scale, mean, paired_ratios};
use crate::vocabulary::cell::{ByBlock, EndsByBlock};
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::Metric;
use crate::vocabulary::minimum::{minimum_effect, smallest_change, smallest_difference};
use crate::vocabulary::primary::Place;

/// With fewer blocks only huge differences can be distinguished from chance: the interval of 4
/// blocks is a quarter wider than that of 5, and that of 3 twice as wide.
pub const FEWEST_BLOCKS: u32 = 5;

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
    /// The ratio of each block in which it is known.
    pub per_block: Vec<f64>,
    /// Blocks that show only a bound of it.
    pub censored: u32,
    /// The interval of the ratios; see [`Bounded::interval`](crate::statistics::Bounded::interval).
    pub interval: Interval,
    /// Which end of the interval is the known one; `None` if both are.
    pub bound: Option<OneSided>,
    /// The difference, for measures that are judged by it, with the smallest difference that
    /// matters.
    pub difference: Option<(Interval, f64)>,
    /// The smallest change of the baseline's number that matters, as a logarithm.
    pub matters: f64,
    /// What speaks against it.
    pub untrusted: Vec<Reason>,
    /// The blocks that chose how many the run has, if the intervals have their degrees of freedom.
    pub pilot: Option<u32>,
}

impl<'a> Ratio<'a> {
    /// What the ratio compares, and where.
    pub fn place(&self) -> Place<'a> {
        (self.variant, self.workload, self.point, self.metric)
    }

    /// The same ratio in a run whose first `pilot` blocks chose how many it has.
    #[must_use]
    pub fn with_pilot(self, pilot: u32) -> Self {
        let blocks = self.blocks();
        let planned = |interval: Interval| interval.with_freedom_of(pilot, blocks);
        Self {
            interval: planned(self.interval),
            difference: self
                .difference
                .map(|(found, least)| (planned(found), least)),
            pilot: Some(pilot),
            ..self
        }
    }

    /// Blocks in which both were measured.
    pub fn blocks(&self) -> u32 {
        let known = u32::try_from(self.per_block.len()).unwrap_or(u32::MAX);
        known.saturating_add(self.censored)
    }

    /// The interval, without a width if only one end of it is known: no equality follows from it.
    pub fn two_sided(&self) -> Interval {
        Interval {
            half_width: self.interval.half_width.filter(|_| self.bound.is_none()),
            ..self.interval
        }
    }
}

/// The numbers of one measure of one cell, by block.
pub struct Series<'a> {
    /// The cell.
    pub cell: AnyCell<'a>,
    /// The measure.
    pub metric: Metric,
    /// The numbers.
    pub by_block: ByBlock,
    /// What each block shows at least and at most, where some show only a bound; empty otherwise.
    pub ends: EndsByBlock,
}

impl<'a> Series<'a> {
    /// The series of the cells that take part in comparisons.
    pub fn ranked(cells: impl Iterator<Item = AnyCell<'a>>) -> Vec<Self> {
        let of_cell = |cell: AnyCell<'a>| {
            let series = cell.detail.series().into_iter();
            series.map(move |(metric, by_block)| Self {
                cell,
                metric,
                by_block,
                ends: cell.detail.ends(metric),
            })
        };
        cells.filter(|cell| cell.ranked).flat_map(of_cell).collect()
    }

    /// What the series is compared with, among `all` of the same run: the baseline, and its twin
    /// unless it is the twin's own series.
    pub fn base(&self, all: &[Self], baseline: &str) -> Option<Base<'a>> {
        let of_variant = |name: &str| {
            let mut all = all.iter().filter(|one| one.is_same_point(self));
            all.find(|one| one.cell.variant == name)
        };
        let base = of_variant(baseline)?;
        let twin = of_variant(TWIN).filter(|_| self.cell.variant != TWIN);
        Some(Base {
            by_block: pooled(&base.by_block, twin.map(|twin| &twin.by_block)),
            own: base.by_block.clone(),
            twin: twin.map(|twin| twin.by_block.clone()).unwrap_or_default(),
            ends: pooled_ends(base.all_ends(), twin.map(Self::all_ends)),
            is_censored: !base.ends.is_empty() || twin.is_some_and(|twin| !twin.ends.is_empty()),
            cells: [Some(base), twin]
                .into_iter()
                .flatten()
                .map(|one| one.cell)
                .collect(),
        })
    }

    /// What each block shows at least and at most.
    fn all_ends(&self) -> EndsByBlock {
        if !self.ends.is_empty() {
            return self.ends.clone();
        }
        let numbers = self.by_block.iter();
        numbers
            .map(|(block, number)| (*block, [*number; 2]))
            .collect()
    }

    fn is_same_point(&self, other: &Self) -> bool {
        self.metric == other.metric
            && self.cell.point == other.cell.point
            && self.cell.workload == other.cell.workload
    }
}

/// What a series is compared with.
pub struct Base<'a> {
    /// The baseline's number of each block, for people: with a twin the geometric mean of both.
    by_block: ByBlock,
    /// The baseline's own number of each block.
    own: ByBlock,
    /// Its twin's; empty without one.
    twin: ByBlock,
    /// What each block shows at least and at most; with a twin the geometric means of both.
    ends: EndsByBlock,
    /// Whether some blocks show only a bound.
    is_censored: bool,
    /// The cells of these numbers.
    pub cells: Vec<AnyCell<'a>>,
}

impl Base<'_> {
    /// What a series is to the baseline and to its twin, one pair per block. They are averaged after
    /// trimming ([`Interval::from_pairs`]).
    pub fn pairs(&self, one: &Series<'_>, scale: Scale) -> Vec<[f64; 2]> {
        pairs_with_both(&one.by_block, &self.own, &self.twin, scale)
    }

    fn interval(&self, one: &Series<'_>, scale: Scale) -> Option<Interval> {
        Interval::from_pairs(&self.pairs(one, scale), scale)
    }

    /// What is known of a series as a multiple of the baseline.
    fn known(&self, one: &Series<'_>) -> Option<Known> {
        if one.ends.is_empty() && !self.is_censored {
            return Some(Known {
                interval: self.interval(one, Scale::Ratio)?,
                bound: None,
                per_block: paired_ratios(&one.by_block, &self.by_block),
                censored: 0,
            });
        }
        Known::from_ends(&one.all_ends(), &self.ends)
    }
}

/// All ratios of a run, by workload, then variant, then measure.
pub fn ratios<'a>(spec: &'a BenchmarkRunSpec, baseline: &str, cells: &'a Cells) -> Vec<Ratio<'a>> {
    let all = Series::ranked(cells.all());
    let mut found = vec![];
    for workload in &spec.workloads {
        let knee = knee(&cells.loads, baseline, &workload.name).map(LoadCell::point);
        for variant in spec.variants.iter().filter(|one| one.name != baseline) {
            let mut of_both: Vec<Ratio<'_>> = all
                .iter()
                .filter(|one| one.cell.is_of(&variant.name, &workload.name))
                .filter(|one| is_compared(spec, one.metric, one.cell.point, knee))
                .filter_map(|one| ratio(spec, workload, one, &one.base(&all, baseline)?))
                .collect();
            of_both.sort_by_key(|ratio| (ratio.metric, ratio.point));
            found.extend(of_both);
        }
    }
    found
}

/// The baseline's number of each block, and with a twin the geometric mean of both.
pub fn pooled(base: &ByBlock, twin: Option<&ByBlock>) -> ByBlock {
    let of_block = |(block, own): (&u32, &f64)| {
        let twin = twin.and_then(|twin| twin.get(block));
        (*block, twin.map_or(*own, |twin| (own * twin).sqrt()))
    };
    base.iter().map(of_block).collect()
}

fn ratio<'a>(
    spec: &BenchmarkRunSpec,
    workload: &Workload,
    one: &Series<'a>,
    base: &Base<'_>,
) -> Option<Ratio<'a>> {
    let smallest = smallest_difference(spec, workload, one.metric);
    let effect = minimum_effect(spec);
    let known = base.known(one)?;
    let of_base: Vec<f64> = base.by_block.values().copied().collect();
    let cells = base.cells.iter().copied().chain([one.cell]);
    let mut untrusted: BTreeSet<Reason> = cells
        .flat_map(|cell| cell.untrusted_because(effect))
        .collect();
    let blocks = known.per_block.len() + known.censored as usize;
    if blocks < FEWEST_BLOCKS as usize {
        untrusted.insert(Reason::TooFewBlocks);
    }
    Some(Ratio {
        untrusted: untrusted.into_iter().collect(),
        variant: one.cell.variant,
        workload: one.cell.workload,
        point: one.cell.point,
        metric: one.metric,
        interval: known.interval,
        bound: known.bound,
        censored: known.censored,
        difference: smallest
            .and_then(|least| Some((base.interval(one, Scale::Difference)?, least))),
        matters: smallest_change(spec, &workload.name, one.metric, mean(&of_base)),
        per_block: known.per_block,
        pilot: None,
    })
}

/// Whether a measure is compared at a point. `knee` is the baseline's.
fn is_compared(spec: &BenchmarkRunSpec, metric: Metric, point: Point, knee: Option<Point>) -> bool {
    match metric {
        Metric::ThroughputRps => Some(point) == knee,
        // If no throughput point of the baseline is valid, its warm point must not replace it.
        Metric::CpuPerRequest
        | Metric::Memory
        | Metric::Succeeded
        | Metric::ContextSwitchesPerCpuSecond
        | Metric::PageFaultsPerRequest
        | Metric::SystemCpuPerRequest
        | Metric::InstanceTimePerRequest
        | Metric::CpuUse
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
        | Metric::Capacity
        | Metric::PayloadCpuPerMegabyte
        | Metric::PayloadFixedCpu
        | Metric::MemoryPerInstance
        | Metric::ContextSwitchesPerCpuSecond
        | Metric::PageFaultsPerRequest
        | Metric::SystemCpuPerRequest
        | Metric::InstanceTimePerRequest
        | Metric::CpuUse => true,
    }
}
