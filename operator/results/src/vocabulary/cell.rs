//! A cell of any sweep: one variant under one workload at one point. What all cells have stands in
//! [`CellSummary`], what only one kind has in its [`Detail`]. Code that compares, counts or lists
//! cells takes [`AnyCell`], and is thus written once for all of them.

use std::any::Any;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_model::wire::record::{Cell, Point};

use crate::vocabulary::counts::TrialCounts;
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::Metric;

/// One variant under one workload at one point: all its trials together.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct CellSummary<D: ?Sized> {
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

/// A cell of any kind.
pub type AnyCell = CellSummary<dyn Detail>;

/// The numbers of a cell by block; a block without the number is left out.
pub type ByBlock = BTreeMap<u32, f64>;

/// What only cells of one kind have.
pub trait Detail: Any {
    /// The point of the sweep.
    fn point(&self) -> Point;

    /// The measures of the cell, each with one number per valid block. Measures that rest on too
    /// few requests, or that depend on the cluster and not on the variant, are left out.
    fn series(&self) -> Vec<(Metric, ByBlock)>;

    /// Whether the node was noisy in more of the measurements than a comparison tolerates; `false`
    /// where noise does not move what is compared.
    fn is_noisy(&self) -> bool {
        false
    }

    /// Whether it is unknown if the node was noisy, although it could have been determined.
    fn is_noise_unknown(&self) -> bool {
        false
    }

    /// Whether the measured rate still changed within the windows, by more than a comparison with
    /// this minimum effect tolerates.
    fn is_unsteady(&self, _minimum_effect: f64) -> bool {
        false
    }

    /// Whether a window lasted so much longer than asked for that its rate is that of a stall.
    fn is_overrun(&self) -> bool {
        false
    }
}

impl dyn Detail {
    /// The detail as that of a kind, if it is of this kind.
    pub fn of_kind<D: Detail>(&self) -> Option<&D> {
        (self as &dyn Any).downcast_ref()
    }
}

impl<D: Detail> CellSummary<D> {
    /// The cell without its kind.
    pub fn any(&self) -> &AnyCell {
        self
    }
}

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
}

impl<D: Detail + ?Sized> CellSummary<D> {
    /// The point of the sweep.
    pub fn point(&self) -> Point {
        self.detail.point()
    }

    /// Variant, workload and point together.
    pub fn cell(&self) -> Cell {
        Cell {
            variant: self.variant.clone(),
            workload: self.workload.clone(),
            point: self.point(),
        }
    }

    /// Whether it is the cell of `variant` under `workload` at `point`.
    pub fn is_at(&self, variant: &str, workload: &str, point: Point) -> bool {
        self.is_of(variant, workload) && self.point() == point
    }

    /// Whether some trials are valid while others failed or were skipped: the missing ones may be
    /// the slow ones.
    pub const fn is_partly_measured(&self) -> bool {
        self.counts.valid > 0 && self.counts.failed + self.counts.skipped > 0
    }

    /// Why comparisons with this cell are not to be trusted. `minimum_effect` is the smallest
    /// effect that matters.
    pub fn untrusted_because(&self, minimum_effect: f64) -> Vec<Reason> {
        let against = [
            (Reason::TrialsFailed, self.is_partly_measured()),
            (Reason::NodeNoisy, self.detail.is_noisy()),
            (Reason::NoiseUnknown, self.detail.is_noise_unknown()),
            (Reason::NotSteady, self.detail.is_unsteady(minimum_effect)),
            (Reason::WindowOverran, self.detail.is_overrun()),
        ];
        let against = against.into_iter().filter(|(_, is_so)| *is_so);
        against.map(|(reason, _)| reason).collect()
    }

    /// The place of the cell, for people: `embedded on hello at 50 connections`.
    pub fn place(&self) -> String {
        place(&self.variant, &self.workload, self.point())
    }

    /// The place in a list over all sweeps: `cold starts of embedded on hello`.
    pub fn place_among_sweeps(&self) -> String {
        format!("{}{}", of_sweep(self.point()), self.place())
    }
}

impl<D: ?Sized> CellSummary<D> {
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
        Point::OpenLoop { percent_of_peak } => format!(" at {percent_of_peak} % of its peak"),
        Point::ColdStart { concurrency: 1 } | Point::Density | Point::Scout => String::new(),
        Point::ColdStart { concurrency } => format!(", {concurrency} pods at once"),
    };
    format!("{variant} on {workload}{at}")
}

/// The prefix of a place in a list over all sweeps; empty for loads, whose place shows the sweep.
pub const fn of_sweep(point: Point) -> &'static str {
    match point {
        Point::ColdStart { .. } => "cold starts of ",
        Point::Density => "density of ",
        Point::Scout => "scout of ",
        Point::WarmLatency | Point::Throughput { .. } | Point::OpenLoop { .. } => "",
    }
}
