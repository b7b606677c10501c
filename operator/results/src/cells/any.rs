//! A cell of any sweep. Code that compares, counts or lists cells takes [`AnyCell`], and is thus
//! written once for all of them.

use wasmbench_model::wire::record::{Cell, Point};

use crate::cells::capacity::CapacityDetail;
use crate::cells::coldstart::ColdStartDetail;
use crate::cells::density::DensityDetail;
use crate::cells::load::LoadDetail;
use crate::cells::payload::PayloadDetail;
use crate::vocabulary::cell::{ByBlock, CellSummary, EndsByBlock, of_sweep, place};
use crate::vocabulary::counts::TrialCounts;
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::measure::Metric;

/// A cell of any kind: a view of a [`CellSummary`].
#[derive(Clone, Copy, Debug)]
pub struct AnyCell<'a> {
    /// Name of the variant.
    pub variant: &'a str,
    /// Name of the workload.
    pub workload: &'a str,
    /// The point of the sweep.
    pub point: Point,
    /// Whether the cell takes part in comparisons.
    pub ranked: bool,
    /// Why the cell is invalid; empty for a valid cell.
    pub invalid_because: &'a [Reason],
    /// How the trials ended.
    pub counts: TrialCounts,
    /// What only cells of its kind have.
    pub detail: Detail<'a>,
}

/// What only cells of one kind have.
#[derive(Clone, Copy, Debug)]
pub enum Detail<'a> {
    /// A load.
    Load(&'a LoadDetail),
    /// Capacity.
    Capacity(&'a CapacityDetail),
    /// Payload.
    Payload(&'a PayloadDetail),
    /// Cold starts.
    ColdStart(&'a ColdStartDetail),
    /// Density.
    Density(&'a DensityDetail),
}

macro_rules! kinds {
    ($($kind:ident $detail:ident $try_as:ident)*) => {$(
        impl<'a> From<&'a $detail> for Detail<'a> {
            fn from(detail: &'a $detail) -> Self {
                Self::$kind(detail)
            }
        }

        impl<'a> Detail<'a> {
            /// What only this kind of cell has; `None` for a cell of another kind.
            pub fn $try_as(self) -> Option<&'a $detail> {
                if let Self::$kind(detail) = self { Some(detail) } else { None }
            }
        }
    )*};
}

kinds! {
    Load LoadDetail try_as_load
    Capacity CapacityDetail try_as_capacity
    Payload PayloadDetail try_as_payload
    ColdStart ColdStartDetail try_as_cold_start
    Density DensityDetail try_as_density
}

impl Detail<'_> {
    fn point(self) -> Point {
        match self {
            Self::Load(load) => load.point(),
            Self::Capacity(_) => Point::Capacity,
            Self::Payload(_) => Point::Payload,
            Self::ColdStart(starts) => starts.point(),
            Self::Density(_) => Point::Density,
        }
    }

    /// The measures of the cell, each with one number per valid block. Measures that rest on too
    /// few requests, or that depend on the cluster and not on the variant, are left out.
    pub fn series(self) -> Vec<(Metric, ByBlock)> {
        match self {
            Self::Load(load) => load.series(),
            Self::Capacity(climbs) => climbs.series(),
            Self::Payload(bodies) => bodies.series(),
            Self::ColdStart(starts) => starts.series(),
            Self::Density(climbs) => climbs.series(),
        }
    }

    /// What each valid block shows of `metric` at least and at most, where some show only a bound, which
    /// is no number of [`Self::series`]; empty otherwise.
    pub fn ends(self, metric: Metric) -> EndsByBlock {
        match self {
            Self::Capacity(climbs) if metric == Metric::Capacity => climbs.ends(),
            Self::Load(_)
            | Self::Capacity(_)
            | Self::Payload(_)
            | Self::ColdStart(_)
            | Self::Density(_) => EndsByBlock::new(),
        }
    }

    /// Whether it is unknown if the node was noisy, although it could have been determined.
    fn is_noise_unknown(self) -> bool {
        let load = self.try_as_load().is_some_and(LoadDetail::is_noise_unknown);
        load || matches!(self, Self::Capacity(climbs) if climbs.noise_unknown_blocks > 0)
    }

    /// Whether the node was noisy in more of the measurements than a comparison tolerates.
    fn is_noisy(self) -> bool {
        match self {
            Self::Load(load) => load.is_noisy(),
            Self::Capacity(climbs) => climbs.is_noisy(),
            Self::Payload(bodies) => bodies.is_noisy(),
            Self::ColdStart(starts) => starts.is_noisy(),
            // Noise does not move memory.
            Self::Density(_) => false,
        }
    }
}

impl AnyCell<'_> {
    /// Variant, workload and point together.
    pub fn cell(&self) -> Cell {
        Cell {
            variant: self.variant.to_owned(),
            workload: self.workload.to_owned(),
            point: self.point,
        }
    }

    /// Whether it is a cell of `variant` under `workload`.
    pub fn is_of(&self, variant: &str, workload: &str) -> bool {
        self.variant == variant && self.workload == workload
    }

    /// Whether it is the cell of `variant` under `workload` at `point`.
    pub fn is_at(&self, variant: &str, workload: &str, point: Point) -> bool {
        self.is_of(variant, workload) && self.point == point
    }

    /// Whether some trials are valid while others failed or were skipped: the missing ones may be
    /// the slow ones.
    pub const fn is_partly_measured(&self) -> bool {
        self.counts.valid > 0 && self.counts.failed + self.counts.skipped > 0
    }

    /// Why comparisons with this cell are not to be trusted. `minimum_effect` is the smallest
    /// effect that matters.
    pub fn untrusted_because(&self, minimum_effect: f64) -> Vec<Reason> {
        let load = self.detail.try_as_load();
        [
            (Reason::TrialsFailed, self.is_partly_measured()),
            (Reason::NodeNoisy, self.detail.is_noisy()),
            (Reason::NoiseUnknown, self.detail.is_noise_unknown()),
            (
                Reason::NotSteady,
                load.is_some_and(|load| load.is_unsteady(minimum_effect)),
            ),
            (
                Reason::WindowOverran,
                load.is_some_and(|load| load.overrun.is_some()),
            ),
        ]
        .into_iter()
        .filter_map(|(reason, is_so)| is_so.then_some(reason))
        .collect()
    }

    /// Whether it takes part in comparisons with a capacity of which some blocks show only a bound.
    pub fn is_bounded(&self) -> bool {
        self.ranked && !self.detail.ends(Metric::Capacity).is_empty()
    }

    /// The place of the cell, for people: `embedded on hello at 50 connections`.
    pub fn place(&self) -> String {
        place(self.variant, self.workload, self.point)
    }

    /// The place in a list over all sweeps: `cold starts of embedded on hello`.
    pub fn place_among_sweeps(&self) -> String {
        format!("{}{}", of_sweep(self.point), self.place())
    }
}

impl<D> CellSummary<D>
where
    for<'a> Detail<'a>: From<&'a D>,
{
    /// The cell without its kind.
    pub fn any(&self) -> AnyCell<'_> {
        AnyCell {
            variant: &self.variant,
            workload: &self.workload,
            point: self.point(),
            ranked: self.ranked,
            invalid_because: &self.invalid_because,
            counts: self.counts,
            detail: Detail::from(&self.detail),
        }
    }

    /// The point of the sweep.
    pub fn point(&self) -> Point {
        Detail::from(&self.detail).point()
    }

    /// Whether it is the cell of `variant` under `workload` at `point`.
    pub fn is_at(&self, variant: &str, workload: &str, point: Point) -> bool {
        self.any().is_at(variant, workload, point)
    }

    /// The place of the cell, for people: `embedded on hello at 50 connections`.
    pub fn place(&self) -> String {
        self.any().place()
    }
}
