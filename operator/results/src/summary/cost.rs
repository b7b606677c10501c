//! What a run costs at a node's price: a million requests and an idle instance of each variant.
//! Summary and price in, costs out. The ratios are those of the run, or of its numbers at the target,
//! since a price changes no ratio. Pure.

use serde::Serialize;
use wasmbench_model::rounding::round_number;
use wasmbench_model::wire::record::Point;

use crate::cells::any::{AnyCell, Detail};
use crate::cells::capacity::{CapacityBlock, CapacityDetail};
use crate::cells::curve::knee;
use crate::cells::density::DensityCell;
use crate::cells::load::{LoadCell, LoadDetail};
use crate::judge::comparison::{Comparison, Estimate};
use crate::statistics::Spread;
use crate::summary::node_price::NodePrice;
use crate::summary::{RunName, Summary, at_target};
use crate::vocabulary::doubt::Doubt;
use crate::vocabulary::measure::{Metric, Sweep};

/// Name and version of the schema of costs.
pub const COST_SCHEMA: &str = "wasmbench.dev/cost/v1";

/// What the variants of a run cost.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Costs<'a> {
    /// [`COST_SCHEMA`].
    pub schema: &'static str,
    /// Which run.
    pub run: &'a RunName,
    /// Whether the numbers can be trusted; absent if there are none.
    pub trustworthy: Option<bool>,
    /// What speaks against the numbers, and what limits them.
    pub doubts: &'a [Doubt],
    /// The variant with which the others are compared.
    pub baseline: &'a str,
    /// The node.
    pub node: NodePrice,
    /// A million requests, by workload and variant.
    pub million_requests: Vec<Cost<'a>>,
    /// An idle instance for a month, by workload and variant.
    pub instance_month: Vec<Cost<'a>>,
    /// Requests per second, if a rate was given.
    pub rate: Option<f64>,
    /// A month with so many requests per second, by workload and variant; empty without a rate.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rate_month: Vec<Cost<'a>>,
}

/// What is saved in a month; below 0 is more than the baseline costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Saved {
    /// In the currency of the price.
    pub amount: f64,
    /// By the ends of the ratio's interval.
    pub interval: Option<(f64, f64)>,
}

/// A number measured for a variant under a workload, and its cost.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Cost<'a> {
    /// Name of the variant.
    pub variant: &'a str,
    /// Name of the workload.
    pub workload: &'a str,
    /// What was measured.
    pub metric: Metric,
    /// The point; absent if nothing was measured.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub point: Option<Point>,
    /// The measured number, in the unit of the measure.
    pub measured: Option<Spread>,
    /// The cost, in the currency of the price.
    pub cost: Option<Spread>,
    /// The number, and thus the cost, as a multiple of the baseline's.
    pub versus_baseline: Option<&'a Comparison>,
    /// The same of a number at a target, where the run judges capacities alone.
    pub ratio_at_target: Option<Estimate>,
    /// Why there is no cost.
    pub missing: Option<String>,
}

impl<'a> Costs<'a> {
    /// What the run of `summary` costs on `node`, also with `rate` requests per second.
    pub fn new(summary: &'a Summary, node: NodePrice, rate: Option<f64>) -> Self {
        let request = |variant: &'a str, workload: &'a str| {
            let what = (variant, workload, Metric::CpuPerRequest);
            at_target(
                summary,
                what,
                |climbs| climbs.cpu_microseconds_per_request,
                |block| block.cpu_microseconds_per_request,
            )
            .unwrap_or_else(|| loaded(summary, what, |load| load.cpu_microseconds_per_request))
        };
        let dense = !summary.density.is_empty();
        let memory = |variant: &'a str, workload: &'a str| {
            let what = (variant, workload, Metric::Memory);
            if dense {
                return instance(summary, variant, workload);
            }
            at_target(
                summary,
                what,
                |climbs| climbs.memory_bytes,
                |block| block.memory_bytes,
            )
            .unwrap_or_else(|| loaded(summary, what, |load| load.memory_bytes))
        };
        Self {
            schema: COST_SCHEMA,
            run: &summary.run,
            trustworthy: summary.trustworthy,
            doubts: &summary.doubts,
            baseline: &summary.baseline,
            node,
            million_requests: each(summary, |variant, workload| {
                request(variant, workload).priced(|cpu| node.of_million_requests(cpu))
            }),
            instance_month: each(summary, |variant, workload| {
                memory(variant, workload).priced(|bytes| node.of_instance_month(bytes))
            }),
            rate,
            rate_month: rate.map_or_else(Vec::new, |rate| {
                each(summary, |variant, workload| {
                    request(variant, workload).priced(|cpu| node.of_rate_month(cpu, rate))
                })
            }),
        }
    }

    /// What a variant saves in a month at the rate, compared with the baseline: by the run's ratio, with
    /// its interval. `None` for the baseline, and where there is no ratio.
    pub fn saved(&self, row: &Cost<'_>) -> Option<Saved> {
        let ratio = row.ratio()?;
        let mut rows = self.rate_month.iter();
        let baseline =
            rows.find(|one| one.variant == self.baseline && one.workload == row.workload)?;
        let cost = baseline.cost?.median;
        let saved = |ratio: f64| cost * (1.0 - ratio);
        Some(Saved {
            amount: saved(ratio.ratio),
            interval: ratio.ends().map(|(low, high)| (saved(high), saved(low))),
        })
    }

    /// Whether any entry has a cost.
    pub fn any(&self) -> bool {
        let mut all = self.million_requests.iter().chain(&self.instance_month);
        all.any(|one| one.cost.is_some())
    }
}

impl Cost<'_> {
    fn priced(self, price: impl Fn(f64) -> f64) -> Self {
        let cost = self.measured.map(|measured| measured.map(price));
        Self {
            cost: cost.map(|cost| cost.map(round_number)),
            ..self
        }
    }

    /// The number as a multiple of the baseline's.
    fn ratio(&self) -> Option<&Estimate> {
        let compared = self.versus_baseline.map(|compared| &compared.estimate);
        compared.or(self.ratio_at_target.as_ref())
    }

    /// The same in words, with the verdict if the run has one.
    pub fn ratio_text(&self) -> Option<String> {
        let compared = self.versus_baseline.map(Comparison::text);
        compared.or_else(|| Some(self.ratio()?.text("not judged")))
    }
}

/// One entry for each workload and variant, in the order of the spec.
fn each<'a>(summary: &'a Summary, cost: impl Fn(&'a str, &'a str) -> Cost<'a>) -> Vec<Cost<'a>> {
    let Summary { compared, .. } = summary;
    let workloads = compared.workloads.iter();
    workloads
        .flat_map(|workload| {
            let variants = compared.variants.iter();
            variants.map(|variant| cost(&variant.name, &workload.name))
        })
        .collect()
}

/// A number of the pod under load, at the point at which variants are compared.
fn loaded<'a>(
    summary: &'a Summary,
    what: (&'a str, &'a str, Metric),
    number: impl Fn(&LoadDetail) -> Option<Spread>,
) -> Cost<'a> {
    let cell = cell(summary, what.0, what.1);
    let measured = cell.and_then(|cell| number(&cell.detail));
    cost(summary, what, cell.map(LoadCell::any), measured)
}

/// A number of the pod at the highest rate that meets the target; `None` for a run without one.
fn at_target<'a>(
    summary: &'a Summary,
    what: (&'a str, &'a str, Metric),
    number: impl Fn(&CapacityDetail) -> Option<Spread>,
    of_block: impl Fn(&CapacityBlock) -> Option<f64>,
) -> Option<Cost<'a>> {
    let mut cells = summary.capacity.iter();
    let cell = cells.find(|cell| cell.is_of(what.0, what.1))?;
    let measured = number(&cell.detail);
    Some(Cost {
        ratio_at_target: at_target::ratio(summary, (what.0, what.1), of_block),
        ..cost(summary, what, Some(cell.any()), measured)
    })
}

/// The memory that one more idle instance holds.
fn instance<'a>(summary: &'a Summary, variant: &'a str, workload: &'a str) -> Cost<'a> {
    let mut cells = summary.density.iter();
    let cell = cells.find(|cell| cell.is_of(variant, workload));
    let measured = cell.and_then(|cell| cell.detail.bytes_per_instance);
    let what = (variant, workload, Metric::MemoryPerInstance);
    cost(summary, what, cell.map(DensityCell::any), measured)
}

fn cost<'a>(
    summary: &'a Summary,
    (variant, workload, metric): (&'a str, &'a str, Metric),
    cell: Option<AnyCell<'_>>,
    measured: Option<Spread>,
) -> Cost<'a> {
    let missing = match (cell, measured) {
        (None, _) => Some("not measured".to_owned()),
        (Some(cell), _) if !cell.ranked => Some(why(cell)),
        (Some(cell), None) => Some(unread(cell).to_owned()),
        (Some(_), Some(_)) => None,
    };
    Cost {
        variant,
        workload,
        metric,
        point: cell.map(|cell| cell.point),
        measured: measured.filter(|_| missing.is_none()),
        cost: None,
        versus_baseline: cell.and_then(|cell| summary.comparison(cell, metric)),
        ratio_at_target: None,
        missing,
    }
}

fn unread(cell: AnyCell<'_>) -> &'static str {
    if matches!(cell.detail, Detail::Capacity(climbs) if climbs.never_met()) {
        "no rung met the target"
    } else {
        "not read"
    }
}

fn why(cell: AnyCell<'_>) -> String {
    let reasons: Vec<&str> = cell
        .invalid_because
        .iter()
        .map(|reason| (*reason).into())
        .collect();
    if reasons.is_empty() {
        "not measured".to_owned()
    } else {
        format!("invalid: {}", reasons.join(", "))
    }
}

/// The cell of a variant whose CPU time and memory are compared: at the baseline's knee, or at the
/// variant's own if the baseline has none. Without a throughput sweep it is the warm-latency cell,
/// or else the open-loop cell with the highest rate.
fn cell<'a>(summary: &'a Summary, variant: &str, workload: &str) -> Option<&'a LoadCell> {
    let cells_of = |name: &str| {
        summary
            .cells
            .iter()
            .filter(|cell| cell.is_of(name, workload))
            .collect::<Vec<&LoadCell>>()
    };
    let own = cells_of(variant);
    let at = |sweep: Sweep| {
        own.iter()
            .filter(move |cell| cell.detail.sweep == sweep)
            .copied()
    };
    if at(Sweep::Throughput).next().is_some() {
        let knee = knee(&summary.cells, &summary.baseline, workload)
            .or_else(|| knee(&summary.cells, variant, workload))
            .map(|knee| knee.detail.connections);
        return at(Sweep::Throughput)
            .find(|cell| knee.is_none_or(|knee| cell.detail.connections == knee));
    }
    let warm = at(Sweep::WarmLatency).next();
    warm.or_else(|| at(Sweep::OpenLoop).max_by_key(|cell| cell.detail.rate))
}
