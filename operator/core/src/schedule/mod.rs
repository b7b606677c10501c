//! What a `BenchmarkSchedule` does, modelled on a `CronJob`. Pure: schedule and runs in, a step and
//! a status out.
//!
//! Reading order: [`Cron`] (its times), [`check()`] (what it means), [`ScheduledRun`] (what is known of
//! its runs), [`step()`] (what to do next), [`run_of`] (the run that starts), [`behind()`] (whether
//! it keeps up), [`status`] (what it reports about itself).

mod behind;
mod check;
mod cron;
mod observed;
mod run;
pub mod status;
mod step;

pub use behind::behind;
pub use check::check;
pub use cron::Cron;
pub use observed::{RunOutcome, ScheduledRun, observed};
pub use run::{run_name, run_of};
pub use step::{LeftOut, ObservedSchedule, Step, step};
