//! The wasmbench API, `wasmbench.dev/v1alpha1`: what a user writes and what they read back.
//!
//! Reading order: [`run`] (the `BenchmarkRun` and its spec), [`cold_start`], [`open_loop`],
//! [`payload`] and [`density`] (four of its sweeps), [`status`] (what the operator reports), [`schedule`] (the
//! `BenchmarkSchedule`, which starts runs), [`conditions`] (the conditions of both), [`labels`]
//! (how to find the operator's objects), [`owner`] (whose an object is), [`quantity`] (amounts of CPU and memory), [`absent`] (what JSON leaves out). The doc comments of the
//! types are the text of `kubectl explain`. This crate contains no client, no clock and no async
//! code, so its types are cheap to import.

pub mod absent;
pub mod cold_start;
pub mod conditions;
pub mod density;
pub mod labels;
pub mod open_loop;
pub mod owner;
pub mod payload;
pub mod quantity;
pub mod run;
pub mod schedule;
mod schema;
mod share;
pub mod status;
mod validation;

pub use run::{BenchmarkRun, BenchmarkRunSpec};
pub use schedule::{BenchmarkSchedule, BenchmarkScheduleSpec, BenchmarkScheduleStatus};
pub use status::BenchmarkRunStatus;

/// The API group.
pub const GROUP: &str = "wasmbench.dev";
/// The API version.
pub const VERSION: &str = "v1alpha1";
