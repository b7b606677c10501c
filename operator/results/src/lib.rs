//! The results of a run: records in, a summary out. Pure: plain data in, plain data out.
//!
//! Reading order: [`measure`] (what is measured), [`fortio`] and [`histogram`] (what one window
//! measured), [`trial`] (the numbers of one record), [`observation`] (what a summary needs from
//! it), [`collect`] (records to a [`summary::Summary`], by way of [`recorded`], [`cell`] and
//! [`all_cells`] (what cells have in common), [`load`], [`coldstart`] and [`density`],
//! [`open_loop`], [`answers`], [`answer_sizes`], [`variant_validity`], [`curve`], [`compare`] with its
//! [`statistics`], [`judge`], [`precision`], [`expectations`], [`environment`], [`cpu_limit`], [`period`],
//! [`power`], [`scout`], [`doubts`] and [`mod@trust`]), [`verdict`] (the result in one line), and [`cost`]
//! (what the run costs at a node's price). [`across`] compares runs, [`history`] follows them.
//!
//! Everything is computed from the run and its records alone, in a fixed order and without a
//! clock, so that the operator and `kubectl wasmbench report` produce identical bytes.

pub mod across;
pub mod all_cells;
pub mod answer_sizes;
pub mod answers;
pub mod bodies;
pub mod ceiling;
pub mod cell;
mod clock;
pub mod coldstart;
pub mod collect;
pub mod compare;
pub mod comparison;
pub mod cost;
pub mod counts;
pub mod cpu_limit;
pub mod curve;
pub mod density;
pub mod doubt;
pub mod doubts;
mod env_values;
pub mod environment;
pub mod expectations;
pub mod failures;
pub mod figures;
pub mod fortio;
mod generator;
pub mod histogram;
pub mod history;
pub mod judge;
pub mod load;
pub mod measure;
pub mod node_price;
mod noise_limit;
pub mod observation;
pub mod open_loop;
pub mod period;
pub mod pod_use;
pub mod power;
pub mod precision;
pub mod primary;
pub mod ratios;
pub mod recorded;
pub mod sandbox;
pub mod scout;
pub mod shim_use;
pub mod statistics;
pub mod steady;
pub mod substrate;
pub mod summary;
mod tail;
pub mod traffic;
pub mod trial;
pub mod trial_columns;
pub mod trust;
pub mod variant_validity;
pub mod verdict;
pub mod words;

pub use collect::{Collector, RunInput, summarize};
pub use summary::Summary;
pub use trust::{Trust, trust};
