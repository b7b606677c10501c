//! The timed window of a load on a schedule. The log of its requests gives each request's latency
//! from the moment at which it was due.

use std::time::Duration;

use wasmbench_model::open_loop::{self, Schedule};
use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::request::REQUEST_TIMEOUT;

use super::failure;
use super::timed::{Bench, Warm};
use super::window::{Answered, Window};
use crate::generator::child;
use crate::generator::log::RequestLog;
use crate::output::progress;

/// A subject that does not keep up finishes its schedule late; a window that takes longer than this
/// many times its length is invalid anyway.
const LONGEST: f64 = 2.0;

/// The requested load.
#[derive(Clone, Copy, Debug)]
pub struct ScheduledLoad {
    /// The rate, in requests per second.
    pub rps: f64,
    /// Seconds of the window.
    pub seconds: u32,
}

impl Bench<'_> {
    /// Runs the timed window. Repeats it once if the node was noisy; then the quieter window
    /// counts.
    pub fn scheduled(
        &self,
        load: ScheduledLoad,
        warm: &Warm,
    ) -> Result<(TimedWindow, Answered), Failure> {
        let schedule = self.schedule(load)?;
        let run = || {
            let window = self.on_schedule(&schedule, warm)?;
            window.ok_or_else(|| load_failed(behind(&schedule)))
        };
        let kept = self.quieter_of_two(run)?;
        Ok((kept.timed, kept.answered))
    }

    /// The schedule of a load.
    pub(super) fn schedule(&self, load: ScheduledLoad) -> Result<Schedule, Failure> {
        let ScheduledLoad { rps, seconds } = load;
        let schedule = Schedule::new(rps, self.load.connections, seconds).ok_or_else(|| {
            load_failed(format!(
                "{rps:.2} requests per second for {seconds} s are too few for a schedule: raise \
                 sweeps.openLoop.durationSeconds or the rate"
            ))
        })?;
        progress(&format!(
            "{} requests at {:.1} per second over {} connections",
            schedule.requests(),
            schedule.rps(),
            schedule.connections()
        ));
        Ok(schedule)
    }

    /// Runs a window once; `None` if it was stopped, because the subject took too long.
    pub(super) fn on_schedule(
        &self,
        schedule: &Schedule,
        warm: &Warm,
    ) -> Result<Option<Window>, Failure> {
        let log = RequestLog::create()
            .map_err(|error| load_failed(format!("no memory for a log of requests: {error}")))?;
        // The warm-up's requests waited for each other; these do so less, so they may be faster.
        let buckets = warm.buckets.without_offset();
        let task = self.load.scheduled(schedule, buckets, log.path());
        let mut is_behind = false;
        let window = self.metered(buckets, |readings| {
            self.generate(&task, limit(schedule), readings)
                .map_err(|error| {
                    is_behind = matches!(error, child::Error::Late { .. });
                    load_failed(error.to_string())
                })
        });
        if is_behind {
            return Ok(None);
        }
        let mut window = window?;
        let measured = log
            .read(window.timed.start_unix_nanoseconds)
            .map_err(|error| error.to_string())
            .and_then(|sent| open_loop::measured(schedule, sent).map_err(|error| error.to_string()))
            .map_err(|error| load_failed(format!("the log of requests is of no use: {error}")))?;
        window.timed.open_loop = Some(measured);
        Ok(Some(window))
    }
}

/// Why a window was stopped.
fn behind(schedule: &Schedule) -> String {
    format!(
        "the subject could not keep up with {:.1} requests per second: what was due in {:.0} s took more \
         than {} s; request a lower rate",
        schedule.rps(),
        schedule.seconds(),
        limit(schedule).as_secs()
    )
}

/// The time after which a window is stopped.
fn limit(schedule: &Schedule) -> Duration {
    Duration::from_secs_f64(schedule.seconds() * LONGEST)
        + 2 * REQUEST_TIMEOUT
        + Duration::from_secs(5)
}

fn load_failed(message: String) -> Failure {
    failure(FailureReason::LoadFailed, message)
}
