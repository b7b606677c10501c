//! Records to numbers, tables and reports. Pure: text and plain data in, text and plain data out.
//!
//! Reading order: [`fortio`] and [`histogram`] (what one window measured), [`trial`] (the numbers
//! of one record), [`observation`] (what a summary needs of it), [`collect`] (records to a
//! [`summary::Summary`], by way of [`cells`], [`answers`], [`curve`], [`compare`] with its
//! [`statistics`], [`noise_floor`], [`judge`], [`precision`], [`against`], [`by_block`] with [`coldstart`] and [`density`], [`open_loop`],
//! [`expectations`], [`environment`], [`period`], [`doubts`] and [`quality`]), then what people see: [`rows`] (the
//! status), [`verdict`] (one line), [`report`] (the files), [`status_table`] (the terminal).
//!
//! Everything is computed from the run and its records alone, in a fixed order and without a
//! clock, so that the operator and `kubectl wasmbench report` produce identical bytes.

pub mod across;
pub mod against;
pub mod all_requests;
pub mod answers;
pub mod bodies;
pub mod by_block;
pub mod ceiling;
pub mod cell;
mod cells;
mod clock;
pub mod coldstart;
pub mod collect;
pub mod columns;
pub mod compare;
pub mod comparison;
pub mod counts;
pub mod csv;
pub mod curve;
pub mod density;
pub mod doubt;
pub mod doubts;
pub mod environment;
pub mod expectations;
pub mod failures;
pub mod fit;
pub mod fortio;
pub mod histogram;
pub mod html;
pub mod invalid;
pub mod json;
pub mod judge;
pub mod markdown;
pub mod measure;
pub mod observation;
pub mod open_loop;
pub mod outside;
pub mod period;
pub mod pod_use;
pub mod precision;
pub mod quality;
pub mod report;
pub mod rows;
pub mod sandbox;
pub mod statistics;
pub mod status_table;
pub mod substrate;
pub mod summary;
pub mod table;
pub mod tables;
pub mod trial;
pub mod units;
pub mod verdict;
pub mod words;

pub use collect::{Collector, RunInput, summarize};
pub use quality::{Trust, trust};
pub use report::{report_files, report_files_of};
pub use summary::Summary;
