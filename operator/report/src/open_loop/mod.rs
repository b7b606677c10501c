//! Loads on a schedule: a section of `report.md`, rows of the status, lines for a terminal.

mod report;
mod status;
mod terminal;

pub use report::{points, section};
pub use status::points_of_row;
pub use terminal::terminal;
