//! Payload: a section of `report.md`, lines for a terminal.

mod report;
mod terminal;

pub use report::{section, tables};
pub use terminal::terminal;
