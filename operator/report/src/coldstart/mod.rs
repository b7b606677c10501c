//! Cold starts: a section of `report.md`, rows of the status, lines for a terminal.

mod report;
mod status;
mod terminal;

pub use report::{section, tables};
pub use status::{harness_floor, points};
pub use terminal::terminal;
