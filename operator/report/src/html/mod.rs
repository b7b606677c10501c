//! `report.html`: the run as plots, with a point for every trial. One file without scripts and
//! without external resources: inline SVG and CSS, well-formed XML as well as HTML.
//!
//! Reading order: [`scale`] (numbers to coordinates, and ticks), [`marks`] (points, intervals,
//! tags), [`axis`], [`lane`] (the trials of a cell as points), [`outliers`] (where axes end), the
//! plots [`strip`], [`curve`], [`forest`], [`bytes`], and [`ladder`] with its [`target`], then [`ratios`],
//! [`capacity_plot`], [`payload_plot`] and [`workload`] (which plots a run has), [`banner`] and [`grid`] (the first screen),
//! [`writer`] (sections, as in `report.md`) and [`page`]. Numbers are written as in `report.md`, and
//! all external text is escaped.

pub mod axis;
mod banner;
mod bytes;
mod capacity_plot;
mod cold;
mod curve;
mod density;
mod forest;
mod grid;
pub mod ladder;
mod lane;
pub mod marks;
mod outliers;
pub(crate) mod page;
mod payload_plot;
mod plot;
mod ratios;
pub mod scale;
mod strip;
pub mod target;
mod workload;
mod writer;

pub use marks::Points;
pub use page::{HATCH, STYLE, plots, report_head, report_html, report_rest};

/// How much of a run is drawn. The size of a report is limited, so large runs are drawn in less
/// detail, with a note on the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// How single trials are drawn.
    pub points: Points,
    /// Whether tables of the numbers appear below the plots.
    pub tables: bool,
}

/// The levels of detail, from most to least.
pub const DETAILS: [Detail; 4] = [
    Detail {
        points: Points::Labelled,
        tables: true,
    },
    Detail {
        points: Points::Plain,
        tables: true,
    },
    Detail {
        points: Points::Plain,
        tables: false,
    },
    Detail {
        points: Points::None,
        tables: false,
    },
];
