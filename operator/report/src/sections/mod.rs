//! The content of a report, section by section: takes a summary and produces sections, which
//! [`crate::markdown`] and [`crate::html`] write. A `None` is a section that the run does not need.

mod compared;
mod decided;
mod head;
mod missing;
mod mix;
mod node;
mod pods;
mod ratios;
mod reproduce;
mod scouts;
mod trials;

use wasmbench_results::summary::Summary;

use crate::section::Section;
use crate::{capacity, coldstart, density, open_loop, payload};

pub use self::compared::in_short;
pub use self::decided::{doubts_together, expectations};
pub use self::head::{head, in_words};
pub use self::missing::{not_applicable, not_measured};
pub use self::mix::section as mixes;
pub use self::trials::trials;

/// The sections between the head of `report.md` and its table of all trials.
pub fn before_trials(summary: &Summary) -> Vec<Section> {
    let all = [
        expectations(summary),
        Some(decided::doubts(summary)),
        Some(compared::compared(summary)),
        ratios::ratios(summary),
        ratios::loads(summary),
        mix::section(summary),
        coldstart::section(summary),
        open_loop::section(summary),
        capacity::section(summary),
        payload::section(summary),
        density::section(summary),
        pods::inside(summary),
        pods::outside(summary),
        not_applicable(summary),
        not_measured(summary),
        scouts::section(summary),
        Some(node::section(summary)),
    ];
    all.into_iter().flatten().collect()
}

/// The sections of `report.md` below its table of all trials.
pub fn after_trials(summary: &Summary) -> [Section; 2] {
    let guide = include_str!("how_to_read.md");
    [
        Section::new("How to read this").guide(guide),
        reproduce::section(summary),
    ]
}
