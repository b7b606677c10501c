//! The runs of fortio: the warm-up, which also finds the histogram's resolution, and the timed
//! window, which is measured again where its resolution does not fit or the node was noisy.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use wasmbench_core::noise::Noise;
use wasmbench_core::wire::document::{ProbeFailure, ProbeFailureReason, TimedWindow, Warmup};

use super::amounts::{Amounts, limit};
use super::failure;
use super::readings::{Readings, Sources};
use super::settling::Settling;
use super::window::{Answered, Window, quieter};
use crate::fortio::args::{Amount, Load, REQUEST_TIMEOUT};
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
    /// Of the echo server, where the workload has one.
    pub upstream: Option<PodMeter>,
    /// The node's `/proc`.
    pub proc: &'a Path,
    /// `/sys` of the probe's own container.
    pub sys: &'a Path,
    /// CPUs of the node, if they could be counted.
    pub cpus: Option<u32>,
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
        let mut settling = Settling::default();
        let parts = amounts.warmup.iter().map(|amount| (amount, false));
        let more = amounts.settling.iter().map(|amount| (amount, true));
        for (amount, is_added) in parts.chain(more) {
            if is_added && settling.is_settled() != Some(false) {
                break;
            }
            let settings = (warm.resolution, warm.per_request);
            let run = self.run(*amount, settings, &Mutex::default())?;
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
            settling.add(warm.warmup.rps);
            warm.warmup.added_parts += u32::from(is_added);
        }
        // Halves of a number of requests are too short to tell.
        let told = settling
            .is_settled()
            .filter(|_| !amounts.settling.is_empty());
        warm.warmup.settled = told;
        let nanoseconds = began.elapsed().as_nanos();
        warm.warmup.duration_nanoseconds = u64::try_from(nanoseconds).unwrap_or(u64::MAX);
        progress(&format!("warm: {:.0} requests per second", warm.warmup.rps));
        Ok(warm)
    }

    /// Runs the timed window. It is run once more when its latencies lie where the buckets are wide,
    /// and once more when the node was noisy; then the quieter window counts.
    pub fn timed(
        &self,
        amounts: &Amounts,
        warm: &Warm,
    ) -> Result<(TimedWindow, Answered), ProbeFailure> {
        let (mut resolution, mut repeats) = (warm.resolution, 0);
        let mut noisy = None;
        let kept = loop {
            let window = match (self.window(amounts.timed, warm, resolution), noisy.take()) {
                (Ok(mut window), first) => {
                    window.timed.repeats = repeats;
                    noisy = first;
                    window
                }
                // What a repeat could not better stays as it was.
                (Err(_), Some(first)) => break first,
                (Err(failure), None) => return Err(failure),
            };
            if let Some(better) = window.better_resolution().filter(|_| repeats == 0) {
                progress("the resolution does not fit what was seen: once more");
                (resolution, repeats) = (better, 1);
            } else if let Some(first) = noisy {
                break quieter(first, window);
            } else if window.asks_for_quiet() && self.has_time_for(&window) {
                let why = window.noise.words();
                progress(&format!("the node was noisy, {why}: once more"));
                noisy = Some(window);
            } else {
                break window;
            }
        };
        Ok((kept.timed, kept.answered))
    }

    fn has_time_for(&self, another: &Window) -> bool {
        let needed = another.length + REQUEST_TIMEOUT;
        self.deadline.saturating_duration_since(Instant::now()) > needed
    }

    fn window(&self, amount: Amount, warm: &Warm, resolution: f64) -> Result<Window, ProbeFailure> {
        let readings = Mutex::new(Readings::of(self.meter.as_ref()));
        let run = self.run(amount, (resolution, warm.per_request), &readings)?;
        let readings = readings.into_inner().unwrap_or_default();
        progress(&format!(
            "timed: {} requests, {:.0} per second",
            run.requests,
            run.rps()
        ));
        let subject = readings.subject(self.meter.as_ref(), &run);
        let timed = TimedWindow {
            start_unix_nanoseconds: run.start_unix_nanoseconds,
            duration_nanoseconds: u64::try_from(run.duration.as_nanos()).unwrap_or(u64::MAX),
            resolution_seconds: resolution,
            repeats: 0,
            discarded: None,
            subject,
            upstream_cpu_nanoseconds: readings.upstream(),
            generator_cpu_nanoseconds: readings.generator(),
            generator_cpu_limit: quota::cpus(&self.sys.join("fs/cgroup")),
            probe_cpu_nanoseconds: readings.probe(),
            node: readings.node(),
            fortio: serde_json::Value::Null,
        };
        let noise = self.cpus.map(|cpus| Noise::of(&timed, cpus));
        Ok(Window::new(run, timed, noise.unwrap_or_default()))
    }

    /// Loads for this time, and gives back what was read at both edges.
    pub fn calibrate(&self, time: Duration) -> Result<(Run, Readings), String> {
        let readings = Mutex::default();
        let settings = (resolution::CALIBRATION, Duration::ZERO);
        let run = self.run(Amount::Time(time), settings, &readings);
        let run = run.map_err(|failure| failure.message)?;
        Ok((run, readings.into_inner().unwrap_or_default()))
    }

    fn run(
        &self,
        amount: Amount,
        (resolution, per_request): (f64, Duration),
        readings: &Mutex<Readings>,
    ) -> Result<Run, ProbeFailure> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let limit = limit(amount, self.load.connections(amount), per_request).min(left);
        let arguments = self.load.arguments(amount, resolution);
        let sources = Sources {
            meter: self.meter.as_ref(),
            upstream: self.upstream.as_ref(),
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
