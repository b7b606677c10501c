//! The wasmbench API, `wasmbench.dev/v1alpha1`: what a user writes and what they read back.
//!
//! Reading order: [`run`] (the `BenchmarkRun` and its spec), [`cold_start`],
//! [`open_loop`] and [`density`] (three of its sweeps), [`status`] (what the operator
//! answers), [`schedule`] (the `BenchmarkSchedule`, which starts runs), [`conditions`] (the words it answers with), [`labels`] (how its objects are found), [`absent`] (what JSON leaves out).
//! The doc comments of the types are the text of `kubectl explain`. This crate holds no client,
//! no clock and no async code, so that anyone can import the types cheaply.

pub mod absent;
pub mod cold_start;
pub mod conditions;
pub mod density;
pub mod labels;
pub mod open_loop;
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
