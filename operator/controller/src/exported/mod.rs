//! Results of runs and schedules in `/metrics`: the latest finished run of each schedule, and runs
//! that opt in with the label `wasmbench.dev/metrics`. Kept in memory by uid, read again after a
//! restart, and dropped with the object.
//!
//! Reading order: [`family`] (the series), [`numbers`] (a run and its summary -> samples),
//! [`last_runs`] (the runs of a schedule -> samples) and [`store`] (what is shown). No client:
//! [`crate::show`] reads what is shown.

pub mod family;
pub mod last_runs;
pub mod numbers;
pub mod store;

pub use store::Exported;

#[cfg(test)]
mod tests;
