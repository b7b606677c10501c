//! Comparisons of runs, [as they were found](wasmbench_results::runs::across), in words: for a terminal,
//! the dashboard and the status of a run.

mod legend;
mod versus;
mod words;

pub use versus::{VERSUS_RUN_TXT, Versus, earlier};
pub use words::InWords;
