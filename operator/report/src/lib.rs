//! What people see: takes a summary and produces text. Pure: the operator and
//! `kubectl wasmbench report` produce identical bytes.
//!
//! Reading order: [`table`] (aligned text, Markdown and HTML), [`sheet`] (rows and columns),
//! `comparisons` (the ratios of all sweeps), [`tables`] (tables of loads), [`coldstart`],
//! [`density`], [`open_loop`], [`capacity`] and [`payload`] (what these add), [`terminal`]
//! (`kubectl wasmbench get`), [`section`] and `sections` (the content of a report, before it is written), [`files`] (the report:
//! [`markdown`], [`html`], [`csv`], [`json`]),
//! [`export`] (for other programs), [`across`] (two runs), [`history`] (the runs of a schedule) and
//! [`cost`] (what a run's numbers cost).

pub mod across;
pub mod capacity;
pub mod coldstart;
mod comparisons;
pub mod cost;
pub mod csv;
pub mod density;
pub mod export;
pub mod files;
pub mod history;
pub mod html;
pub mod json;
mod left_out;
pub mod markdown;
mod markup;
pub mod open_loop;
mod overview;
pub mod payload;
mod section;
mod sections;
mod sheet;
pub mod table;
pub mod tables;
pub mod terminal;
pub mod validity;

pub use files::{report_files, report_files_of};
