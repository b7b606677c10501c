//! From the summaries of runs to their values. Pure.

use std::collections::BTreeSet;

use wasmbench_api::run::TWIN;
use wasmbench_results::cells::any::{AnyCell, Detail};
use wasmbench_results::cells::load::LoadCell;
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::ratios::pooled;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::{Metric, Sweep};

use super::{Length, Measured, Point, Run, SCHEMA, Without};
use crate::figure::{Figure, UNDER_LOAD};

/// Facts of the node that a reader needs to place the numbers.
const NODE_FACTS: [&str; 5] = [
    "cpuModel",
    "cpus",
    "kernel",
    "virtualization",
    "architecture",
];
/// Longest reason that is kept, in characters.
const MAX_REASON_CHARS: usize = 200;

/// What the runs of one manifest found.
pub fn from_summaries(length: Length, summaries: &[Summary]) -> Measured {
    let runs = summaries
        .iter()
        .map(|summary| (summary.run.name.clone(), of_run(length, summary)));
    Measured {
        schema: SCHEMA.into(),
        runs: runs.collect(),
    }
}

fn of_run(length: Length, summary: &Summary) -> Run {
    let node = summary
        .environment
        .facts
        .iter()
        .filter(|(name, _)| NODE_FACTS.contains(&name.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    let doubts = summary.doubts.iter().filter(|doubt| doubt.breaks_trust);
    let mut without = vec![];
    for found in without_values(summary) {
        if !without.contains(&found) {
            without.push(found);
        }
    }
    Run {
        length,
        node,
        blocks: blocks(summary),
        doubts: doubts
            .map(|doubt| <&str>::from(doubt.reason).to_owned())
            .collect(),
        points: points(summary),
        without,
    }
}

fn blocks(summary: &Summary) -> u32 {
    let primary = summary.comparisons.iter().filter(|one| one.primary);
    let fewest = primary.map(|one| one.estimate.blocks).min();
    fewest.unwrap_or(summary.compared.blocks)
}

/// The values of a run; those of points that are not ranked are left out.
fn points(summary: &Summary) -> Vec<Point> {
    let ranked = summary.all_cells().filter(|cell| cell.ranked);
    let all = ranked.flat_map(|cell| of_cell(summary, cell));
    let (twins, mut points): (Vec<_>, Vec<_>) = all.partition(|point| point.variant == TWIN);
    let of_baseline = points.iter_mut().filter(|p| p.variant == summary.baseline);
    for point in of_baseline {
        let place = |p: &Point| (p.figure, p.workload.clone(), p.at);
        let twin = twins.iter().find(|twin| place(twin) == place(point));
        point.values = pooled(&point.values, twin.map(|twin| &twin.values));
    }
    points
}

/// What studies have of a cell, and at how many connections or instances. A climb is there with its last step.
fn figures_of(summary: &Summary, cell: AnyCell<'_>) -> (Vec<Figure>, u32) {
    match cell.detail {
        Detail::Load(load) => (of_sweep(summary, load.sweep), load.connections),
        // No study asks for a capacity or a payload.
        Detail::Capacity(climbs) => (vec![], climbs.connections),
        Detail::Payload(bodies) => (vec![], bodies.connections),
        Detail::ColdStart(starts) => (vec![Figure::Ready], starts.concurrency),
        Detail::Density(climbs) => {
            let last = climbs.steps.last();
            let instances = last.map_or(0, |step| step.instances);
            (vec![Figure::MemoryPerInstance], instances)
        }
    }
}

/// What loads measure in addition to rate and latency is that of the throughput sweep, where there is one.
fn of_sweep(summary: &Summary, sweep: Sweep) -> Vec<Figure> {
    let with_others =
        |figure: Figure| -> Vec<Figure> { std::iter::once(figure).chain(UNDER_LOAD).collect() };
    let is_rate = |cell: &LoadCell| cell.detail.sweep == Sweep::Throughput;
    match sweep {
        Sweep::WarmLatency if summary.cells.iter().any(is_rate) => vec![Figure::WarmP50],
        Sweep::WarmLatency => with_others(Figure::WarmP50),
        Sweep::Throughput => with_others(Figure::Throughput),
        // No study has a load with a schedule.
        Sweep::OpenLoop => vec![],
    }
}

fn of_cell(summary: &Summary, cell: AnyCell<'_>) -> Vec<Point> {
    let (figures, at) = figures_of(summary, cell);
    let series = cell.detail.series().into_iter();
    let points = series.filter_map(|(metric, values)| {
        let figure = figures.iter().find(|figure| figure.metric() == metric)?;
        Some(Point {
            figure: *figure,
            workload: cell.workload.to_owned(),
            at,
            variant: cell.variant.to_owned(),
            values,
            doubts: doubts(summary, cell, metric),
        })
    });
    points.filter(|point| !point.values.is_empty()).collect()
}

/// Why this cell, or its comparison with the baseline, is not to be trusted. For the baseline
/// itself, the reasons that all its comparisons share count as well.
fn doubts(summary: &Summary, cell: AnyCell<'_>, metric: Metric) -> BTreeSet<String> {
    let is_of_place = |one: &&Comparison| {
        (one.metric, one.point, &*one.workload) == (metric, cell.point, cell.workload)
    };
    let reasons = |one: &Comparison| one.untrusted.iter().copied().collect();
    let shared = || {
        let with_it = summary.comparisons.iter().filter(is_of_place);
        let shared = with_it.map(reasons).reduce(|one, other| &one & &other);
        shared.unwrap_or_default()
    };
    let own = summary.comparison(cell, metric).map(reasons);
    let of_comparison: BTreeSet<Reason> = own.unwrap_or_else(shared);
    let effect = summary.compared.minimum_effect.map_or(0.0, f64::ln_1p);
    let of_cell = cell.untrusted_because(effect).into_iter();
    let all = of_cell.chain(of_comparison);
    all.map(|reason| <&str>::from(reason).to_owned()).collect()
}

/// Variants that failed, were skipped or are invalid somewhere, each with its reason.
fn without_values(summary: &Summary) -> Vec<Without> {
    let failed = summary.failures.iter().map(|group| Without {
        variant: group.variant.clone(),
        reason: truncate(&format!("{}: {}", group.reason, group.message)),
    });
    let invalid = summary.all_cells().flat_map(|cell| {
        let reasons = cell.invalid_because.iter();
        reasons.map(move |reason| Without {
            variant: cell.variant.to_owned(),
            reason: truncate(&format!("{} at {}", <&str>::from(*reason), cell.place())),
        })
    });
    let cannot = summary.not_applicable.iter().map(|cell| Without {
        variant: cell.variant.clone(),
        reason: truncate(&format!("{}: not applicable, {}", cell.what, cell.reason)),
    });
    failed.chain(invalid).chain(cannot).collect()
}

fn truncate(text: &str) -> String {
    text.chars().take(MAX_REASON_CHARS).collect()
}
