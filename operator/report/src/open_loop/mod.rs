//! Loads on a schedule: a section of `report.md`, lines for a terminal.

mod report;
mod terminal;

pub use report::{points, section};
pub use terminal::terminal;
