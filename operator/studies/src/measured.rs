//! What runs of a study's manifest found: the values of their blocks, run by run. Summaries in, one small document out,
//! which is kept in the repository so that the page can be written again without a cluster. Runs may be of different days and
//! machines: each holds its own baseline, and only values of one run are ever divided.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use wasmbench_api::run::TWIN;
use wasmbench_results::cells::any::{AnyCell, Detail};
use wasmbench_results::judge::comparison::Comparison;
use wasmbench_results::judge::ratios::pooled;
use wasmbench_results::summary::Summary;
use wasmbench_results::vocabulary::doubt::Reason;
use wasmbench_results::vocabulary::measure::{Metric, Sweep};

use crate::figure::Figure;

/// Name and version of the document's schema.
const SCHEMA: &str = "wasmbench.dev/studies/v2";
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

/// Which of a study's manifests was run.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::EnumString,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Length {
    /// The shortened one.
    Short,
    /// The one with all of the document's numbers of connections.
    Full,
}

/// What was found.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Measured {
    /// Name and version of the schema.
    pub schema: String,
    /// What each run found, by its name.
    pub runs: BTreeMap<String, Run>,
}

/// What one run found.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Run {
    /// Which manifest it is of.
    pub length: Length,
    /// Facts of the node.
    pub node: BTreeMap<String, String>,
    /// The fewest blocks that one of its comparisons rests on: of a run that was stopped, fewer than
    /// it was to have.
    pub blocks: u32,
    /// The reasons to doubt the numbers, one word each. A reason that points list too concerns only
    /// those points; any other concerns the whole run.
    pub doubts: BTreeSet<String>,
    /// Every value.
    pub points: Vec<Point>,
    /// Why variants have no value somewhere.
    pub without: Vec<Without>,
}

/// The values of one variant at one point.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Point {
    /// What it is.
    pub figure: Figure,
    /// Name of the workload.
    pub workload: String,
    /// Connections, or pods at once.
    pub at: u32,
    /// Name of the variant.
    pub variant: String,
    /// By block: microseconds, requests per second or bytes.
    pub values: BTreeMap<u32, f64>,
    /// The reasons to doubt these values, one word each.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub doubts: BTreeSet<String>,
}

/// A variant without a value.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Without {
    /// Name of the variant.
    pub variant: String,
    /// Why.
    pub reason: String,
}

/// The checked content of a file.
pub fn parse(text: &str) -> Result<Measured, String> {
    let measured: Measured = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if measured.schema == SCHEMA {
        Ok(measured)
    } else {
        Err(format!("schema must be {SCHEMA}: measure again"))
    }
}

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
    let compared = summary.comparisons.iter();
    let fewest = compared.map(|one| one.estimate.blocks).min();
    fewest.unwrap_or(summary.compared.blocks)
}

/// A figure of a variant under a workload at a number of connections or pods.
type Place<'a> = (Figure, &'a str, u32, &'a str);

impl Run {
    fn places(&self) -> BTreeSet<Place<'_>> {
        let points = self.points.iter();
        let places =
            points.map(|point| (point.figure, &*point.workload, point.at, &*point.variant));
        places.collect()
    }

    /// The reasons that concern the whole run: those that no point lists.
    pub fn doubts_of_all(&self) -> impl Iterator<Item = &String> {
        let of_a_point = |doubt: &&String| {
            let mut points = self.points.iter();
            points.any(|point| point.doubts.contains(*doubt))
        };
        self.doubts.iter().filter(move |doubt| !of_a_point(doubt))
    }

    /// Which of two runs of the same place counts: one of the whole manifest, then the one with more blocks.
    fn weight(&self) -> (Length, u32) {
        (self.length, self.blocks)
    }
}

impl Measured {
    /// With what was measured later. A run replaces the one of its name; runs of which another has every place and more weight
    /// are dropped.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        self.runs.extend(later.runs);
        let runs = self.runs.clone();
        let better = |run: &Run| {
            let better = runs.values().filter(|other| other.weight() > run.weight());
            let places: BTreeSet<_> = better.flat_map(Run::places).collect();
            !run.points.is_empty() && run.places().is_subset(&places)
        };
        self.runs.retain(|_, run| !better(run));
        self
    }

    /// The runs with their names, the one first whose values count before those of others.
    pub fn best_first(&self) -> Vec<(&str, &Run)> {
        let named = self.runs.iter().map(|(name, run)| (name.as_str(), run));
        let mut runs: Vec<_> = named.collect();
        runs.sort_by_key(|(_, run)| std::cmp::Reverse(run.weight()));
        runs
    }

    /// Why variants have no value somewhere, in any run.
    pub fn without(&self) -> Vec<&Without> {
        let mut all = vec![];
        for without in self.runs.values().flat_map(|run| &run.without) {
            if !all.contains(&without) {
                all.push(without);
            }
        }
        all
    }
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
fn figures_of(cell: AnyCell<'_>) -> (&'static [Figure], u32) {
    match cell.detail {
        Detail::Load(load) => (of_sweep(load.sweep), load.connections),
        Detail::ColdStart(starts) => (&[Figure::Ready], starts.concurrency),
        Detail::Density(climbs) => {
            let last = climbs.steps.last();
            let instances = last.map_or(0, |step| step.instances);
            (&[Figure::MemoryPerInstance], instances)
        }
    }
}

const fn of_sweep(sweep: Sweep) -> &'static [Figure] {
    match sweep {
        Sweep::WarmLatency => &[Figure::WarmP50],
        Sweep::Throughput => &[Figure::Throughput, Figure::CpuPerRequest, Figure::Memory],
        // No study has a load with a schedule.
        Sweep::OpenLoop => &[],
    }
}

fn of_cell(summary: &Summary, cell: AnyCell<'_>) -> Vec<Point> {
    let (figures, at) = figures_of(cell);
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
