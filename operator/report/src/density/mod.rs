//! Density: a section of `report.md`, rows of the status, lines for a terminal.

mod report;
mod terminal;

pub use report::{section, tables};
pub use terminal::terminal;
