//! What a `BenchmarkSchedule` does, modelled on a `CronJob`. Pure: schedule and runs in, a step and
//! a status out.
//!
//! Reading order: [`Cron`] (its times), [`check()`] (what it means), [`ScheduledRun`] (what is known of
//! its runs), [`step()`] (what to do next), [`run_of`] (the run that starts), [`behind()`] (whether
//! it keeps up), [`status`] (what it reports about itself).

mod behind;
mod check;
mod cron;
mod run;
mod seen;
pub mod status;
mod step;

pub use behind::behind;
pub use check::check;
pub use cron::Cron;
pub use run::{run_name, run_of};
pub use seen::{RunOutcome, ScheduledRun, seen};
pub use step::{LeftOut, ObservedSchedule, Step, step};
