//! The timed window of a load on a schedule: first the subject's peak, then requests at a fraction
//! of it. Their log gives each request's latency from the moment at which it was due.

use std::time::Duration;

use wasmbench_model::open_loop::{self, Schedule};
use wasmbench_model::wire::document::TimedWindow;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::open_loop::Peak;
use wasmbench_model::wire::request::REQUEST_TIMEOUT;

use super::failure;
use super::timed::{Bench, Warm};
use super::window::{Answered, Window, quieter};
use crate::generator::child;
use crate::generator::log::RequestLog;
use crate::generator::task::Amount;
use crate::output::progress;

/// A subject that does not keep up finishes its schedule late; a window that takes longer than this
/// many times its length is invalid anyway.
const LONGEST: f64 = 2.0;

/// The requested load.
#[derive(Clone, Copy, Debug)]
pub struct ScheduledLoad {
    /// The rate in percent of the peak.
    pub percent_of_peak: u32,
    /// Seconds for which the peak is measured.
    pub peak_seconds: u32,
    /// Seconds of the window.
    pub seconds: u32,
}

impl Bench<'_> {
    /// Measures the peak, then runs the timed window. Repeats both once if the node was noisy in
    /// either; then the quieter attempt counts.
    pub fn scheduled(
        &self,
        load: ScheduledLoad,
        warm: &Warm,
    ) -> Result<(TimedWindow, Answered), Failure> {
        let first = self.part_of_peak(load, warm)?;
        if !first.asks_for_quiet() || !self.may_repeat(&first) {
            return Ok((first.timed, first.answered));
        }
        let why = first.noise.message();
        progress(&format!("the node was noisy, {why}: once more"));
        // If the repeat fails, the first attempt counts.
        let kept = match self.part_of_peak(load, warm) {
            Ok(second) => quieter(first, second),
            Err(_) => first,
        };
        Ok((kept.timed, kept.answered))
    }

    /// Measures the peak, and runs the window at a fraction of it.
    fn part_of_peak(&self, load: ScheduledLoad, warm: &Warm) -> Result<Window, Failure> {
        let fastest = self.fastest(load, warm)?;
        let peak = fastest.peak();
        progress(&format!("peak: {:.0} requests per second", peak.rps));
        let rps = peak.rps * f64::from(load.percent_of_peak) / 100.0;
        let schedule =
            Schedule::new(rps, self.load.connections, load.seconds).ok_or_else(|| {
                load_failed(format!(
                    "the subject answers {:.2} requests per second at its peak: too few for a schedule; \
                     raise sweeps.openLoop.durationSeconds",
                    peak.rps
                ))
            })?;
        progress(&format!(
            "{} requests at {:.1} per second, {} % of the peak, over {} connections",
            schedule.requests(),
            schedule.rps(),
            load.percent_of_peak,
            schedule.connections()
        ));
        let window = self.on_schedule(&schedule, peak, warm)?;
        Ok(window.after(&fastest))
    }

    /// Runs a load as fast as the subject answers, read at both edges like every window.
    fn fastest(&self, load: ScheduledLoad, warm: &Warm) -> Result<Window, Failure> {
        let time = Amount::Time(Duration::from_secs(load.peak_seconds.into()));
        let window = self.window(time, warm, warm.buckets)?;
        if let Err(codes) = &window.answered {
            let message = format!("no request at the peak was answered as expected: {codes}");
            return Err(failure(FailureReason::NoSuccessfulRequest, message));
        }
        Ok(window)
    }

    fn on_schedule(&self, schedule: &Schedule, peak: Peak, warm: &Warm) -> Result<Window, Failure> {
        let log = RequestLog::create()
            .map_err(|error| load_failed(format!("no memory for a log of requests: {error}")))?;
        // The warm-up's requests waited for each other; these do so less, so they may be faster.
        let buckets = warm.buckets.without_offset();
        let task = self.load.scheduled(schedule, buckets, log.path());
        let limit = Duration::from_secs_f64(schedule.seconds() * LONGEST)
            + 2 * REQUEST_TIMEOUT
            + Duration::from_secs(5);
        let mut window = self.metered(buckets, |readings| {
            self.generate(&task, limit, readings)
                .map_err(|error| load_failed(why(&error, schedule)))
        })?;
        let measured = log
            .read(window.timed.start_unix_nanoseconds)
            .map_err(|error| error.to_string())
            .and_then(|sent| open_loop::measured(schedule, sent).map_err(|error| error.to_string()))
            .map_err(|error| load_failed(format!("the log of requests is of no use: {error}")))?;
        window.timed.open_loop =
            Some(wasmbench_model::wire::open_loop::OpenLoopWindow { peak, ..measured });
        Ok(window)
    }
}

fn why(error: &child::Error, schedule: &Schedule) -> String {
    match error {
        child::Error::Late { limit, .. } => format!(
            "the subject could not keep up with {:.1} requests per second: what was due in {:.0} s took more \
             than {} s; ask for a lower percentage of its peak",
            schedule.rps(),
            schedule.seconds(),
            limit.as_secs()
        ),
        child::Error::Start(_) | child::Error::Ended { .. } | child::Error::Output(_) => {
            error.to_string()
        }
    }
}

fn load_failed(message: String) -> Failure {
    failure(FailureReason::LoadFailed, message)
}
