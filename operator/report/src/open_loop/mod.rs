//! Loads on a schedule: a section of `report.md`, rows of the status, lines for a terminal.

mod report;
mod terminal;

pub use report::{points, section};
pub use terminal::terminal;
