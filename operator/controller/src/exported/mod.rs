//! Results of runs and schedules in `/metrics`: the latest finished run of each schedule, and runs
//! that opt in with the label `wasmbench.dev/metrics`. Kept in memory by uid, read again after a
//! restart, and dropped with the object.
//!
//! Reading order: [`family`] (the series), [`numbers`] (a run and its summary -> samples),
//! [`last_runs`] (the runs of a schedule -> samples), [`store`] (what is shown), and [`read`] (the
//! only part with a client).

mod family;
mod last_runs;
mod numbers;
mod read;
mod store;

pub use read::{forget_gone, run, schedule};
pub use store::Exported;

#[cfg(test)]
mod tests;
