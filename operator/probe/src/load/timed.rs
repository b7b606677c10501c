//! The runs of fortio: the warm-up, which also finds the histogram's resolution, and the timed
//! window, once more if that resolution turns out wrong.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use wasmbench_core::wire::document::{ProbeFailure, ProbeFailureReason, TimedWindow, Warmup};

use super::amounts::{Amounts, limit};
use super::failure;
use super::readings::{Readings, Sources};
use crate::fortio::args::{Amount, Load};
use crate::fortio::child;
use crate::fortio::result::Run;
use crate::meter::PodMeter;
use crate::output::progress;
use crate::quota;
use crate::resolution;

/// What all runs of a trial have in common.
pub struct Bench<'a> {
    pub fortio: &'a Path,
    pub load: Load<'a>,
    /// The status of a correct answer.
    pub status: u16,
    pub meter: Option<PodMeter>,
    /// The node's `/proc`.
    pub proc: &'a Path,
    /// `/sys` of the probe's own container.
    pub sys: &'a Path,
    /// All load has ended by then.
    pub deadline: Instant,
}

/// What the warm-up found.
#[derive(Debug)]
pub struct Warm {
    pub warmup: Warmup,
    pub version: String,
    resolution: f64,
    per_request: Duration,
}

/// Whether any request was answered as expected; if not, what came instead.
pub type Answered = Result<(), String>;

impl Bench<'_> {
    /// Runs the discarded load. `per_request` is what the first correct answer took.
    pub fn warm_up(&self, amounts: &Amounts, per_request: Duration) -> Result<Warm, ProbeFailure> {
        let began = Instant::now();
        let mut warm = Warm {
            warmup: Warmup::default(),
            version: String::new(),
            resolution: resolution::CALIBRATION,
            per_request,
        };
        for amount in &amounts.warmup {
            let run = self.run(*amount, &warm, &Mutex::default())?;
            // With a time, fortio sends one request per connection before it starts to count.
            let uncounted = match amount {
                Amount::Requests(_) => 0,
                Amount::Time(_) => self.load.connections(*amount),
            };
            warm.warmup.requests += run.requests + u64::from(uncounted);
            warm.warmup.rps = run.rps();
            if let Some(seen) = run.seen {
                warm.resolution = resolution::choose(seen);
                warm.per_request = warm.per_request.max(Duration::from_secs_f64(seen.p50));
            }
            warm.version = run.version;
        }
        let nanoseconds = began.elapsed().as_nanos();
        warm.warmup.duration_nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
        progress(&format!("warm: {:.0} requests per second", warm.warmup.rps));
        Ok(warm)
    }

    /// Runs the timed window, and once more when its latencies lie where the buckets are wide.
    pub fn timed(
        &self,
        amounts: &Amounts,
        warm: &Warm,
    ) -> Result<(TimedWindow, Answered), ProbeFailure> {
        let first = self.window(amounts.timed, warm, 0)?;
        let better = first.0.seen.filter(|_| first.0.expected > 0);
        let better = better.and_then(|seen| resolution::better(warm.resolution, seen));
        let (run, window) = match better {
            None => first,
            Some(resolution) => {
                progress("the resolution does not fit what was seen: once more");
                let warm = Warm {
                    resolution,
                    version: String::new(),
                    ..*warm
                };
                self.window(amounts.timed, &warm, 1)?
            }
        };
        let answered = if run.expected > 0 {
            Ok(())
        } else {
            Err(run.codes())
        };
        Ok((window, answered))
    }

    fn window(
        &self,
        amount: Amount,
        warm: &Warm,
        repeats: u32,
    ) -> Result<(Run, TimedWindow), ProbeFailure> {
        let readings = Mutex::default();
        let run = self.run(amount, warm, &readings)?;
        let readings = readings.into_inner().unwrap_or_default();
        progress(&format!(
            "timed: {} requests, {:.0} per second",
            run.requests,
            run.rps()
        ));
        let window = TimedWindow {
            start_unix_nanoseconds: run.start_unix_nanoseconds,
            duration_nanoseconds: u64::try_from(run.duration.as_nanos()).unwrap_or(u64::MAX),
            resolution_seconds: warm.resolution,
            repeats,
            fortio: run.json.clone(),
            subject: readings.subject(self.meter.as_ref(), &run),
            generator_cpu_nanoseconds: readings.generator(),
            generator_cpu_limit: quota::cpus(&self.sys.join("fs/cgroup")),
            probe_cpu_nanoseconds: readings.probe(),
            node: readings.node(),
        };
        Ok((run, window))
    }

    fn run(
        &self,
        amount: Amount,
        warm: &Warm,
        readings: &Mutex<Readings>,
    ) -> Result<Run, ProbeFailure> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let limit = limit(amount, self.load.connections(amount), warm.per_request).min(left);
        let arguments = self.load.arguments(amount, warm.resolution);
        let sources = Sources {
            meter: self.meter.as_ref(),
            proc: self.proc,
        };
        child::run(self.fortio, &arguments, limit, |edge, pid| {
            if let Ok(mut readings) = readings.lock() {
                readings.take(edge, pid, sources);
            }
        })
        .and_then(|output| Run::parse(&output, self.status))
        .map_err(|error| failure(ProbeFailureReason::LoadFailed, error.to_string()))
    }
}
