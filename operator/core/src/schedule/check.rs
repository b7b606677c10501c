//! A schedule as written -> its times. Its template is checked now, just as the run will be later,
//! and not only at three in the morning.

use jiff::Timestamp;
use wasmbench_api::BenchmarkSchedule;

use super::cron::Cron;
use super::run::run_of;
use crate::admit::admit;
use crate::config::OperatorConfig;
use crate::validate::Invalid;

/// The times of a schedule that can be carried out.
pub fn check(schedule: &BenchmarkSchedule, config: &OperatorConfig) -> Result<Cron, Invalid> {
    let cron = Cron::from_spec(&schedule.spec)?;
    // Nothing about a run's meaning depends on when it starts.
    let run = run_of(schedule, Timestamp::UNIX_EPOCH);
    match admit(&run, config) {
        Ok(_) => Ok(cron),
        Err(invalid) => Err(Invalid {
            field: format!("spec.template.{}", invalid.field),
            message: invalid.message,
        }),
    }
}
