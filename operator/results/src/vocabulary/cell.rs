//! A cell of a sweep: one variant under one workload at one point. What all cells have stands in
//! [`CellSummary`], what only one kind has in its `detail`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_model::wire::record::{Cell, Point};

use crate::vocabulary::counts::TrialCounts;
use crate::vocabulary::doubt::Reason;

/// One variant under one workload at one point: all its trials together.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CellSummary<D> {
    /// Name of the variant.
    pub variant: String,
    /// Name of the workload.
    pub workload: String,
    /// Whether the cell takes part in comparisons: it has a valid trial and no reason in
    /// `invalidBecause`.
    pub ranked: bool,
    /// Why the cell is invalid: it is shown, but excluded from comparisons and verdicts. Empty for
    /// a valid cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invalid_because: Vec<Reason>,
    /// How the trials ended.
    pub counts: TrialCounts,
    /// What only cells of its kind have.
    #[serde(flatten)]
    pub detail: D,
}

/// The numbers of a cell by block; a block without the number is left out.
pub type ByBlock = BTreeMap<u32, f64>;

/// What is known of the numbers of a cell by block: the least, 0 if there is none, and the most, which
/// may be infinite.
pub type EndsByBlock = BTreeMap<u32, [f64; 2]>;

impl<D> CellSummary<D> {
    /// A cell that is invalid for these reasons, or valid without any.
    pub fn new(cell: Cell, counts: TrialCounts, detail: D, invalid_because: Vec<Reason>) -> Self {
        Self {
            variant: cell.variant,
            workload: cell.workload,
            ranked: counts.valid > 0 && invalid_because.is_empty(),
            invalid_because,
            counts,
            detail,
        }
    }

    /// Whether it is a cell of `variant` under `workload`.
    pub fn is_of(&self, variant: &str, workload: &str) -> bool {
        self.variant == variant && self.workload == workload
    }

    /// Whether `reason` makes the cell invalid.
    pub fn is_invalid_by(&self, reason: Reason) -> bool {
        self.invalid_because.contains(&reason)
    }
}

/// The cells under one workload.
pub fn under<'a, D>(cells: &'a [CellSummary<D>], workload: &str) -> Vec<&'a CellSummary<D>> {
    let cells = cells.iter();
    cells.filter(|cell| cell.workload == workload).collect()
}

/// The cells of one variant under one workload that take part in comparisons.
pub fn ranked<'a, D>(
    cells: &'a [CellSummary<D>],
    variant: &'a str,
    workload: &'a str,
) -> impl DoubleEndedIterator<Item = &'a CellSummary<D>> {
    let cells = cells.iter().filter(|cell| cell.ranked);
    cells.filter(move |cell| cell.is_of(variant, workload))
}

/// Where something was measured, for people: `embedded on hello, 4 pods at once`.
pub fn place(variant: &str, workload: &str, point: Point) -> String {
    let at = match point {
        Point::WarmLatency => " (warm latency)".to_owned(),
        Point::Throughput { connections } => format!(" at {connections} connections"),
        Point::OpenLoop { rate } => format!(" at {rate}"),
        Point::ColdStart { concurrency: 1 }
        | Point::Capacity
        | Point::Payload
        | Point::Density
        | Point::Scout => String::new(),
        Point::ColdStart { concurrency } => format!(", {concurrency} pods at once"),
    };
    format!("{variant} on {workload}{at}")
}

/// The prefix of a place in a list over all sweeps; empty for loads, whose place shows the sweep.
pub const fn of_sweep(point: Point) -> &'static str {
    match point {
        Point::ColdStart { .. } => "cold starts of ",
        Point::Capacity => "capacity of ",
        Point::Payload => "payload of ",
        Point::Density => "density of ",
        Point::Scout => "scout of ",
        Point::WarmLatency | Point::Throughput { .. } | Point::OpenLoop { .. } => "",
    }
}
