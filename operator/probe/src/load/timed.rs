//! The runs of the load generator against one subject: the parts of the warm-up, which also find the
//! histogram's buckets, and the timed window. [`super::course`] decides their order.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use wasmbench_model::noise::Noise;
use wasmbench_model::wire::document::{InstanceTime, TimedWindow, Warmup};
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::request::{NoiseRule, REQUEST_TIMEOUT};

use super::amounts::{Amounts, limit, parts_of};
use super::failure;
use super::part::Part;
use super::readings::{Readings, Sources};
use super::settling::Settling;
use super::window::Window;
use crate::buckets::Buckets;
use crate::generator::child;
use crate::generator::result::Run;
use crate::generator::task::{Amount, Load, Task};
use crate::meter::PodMeter;
use crate::output::progress;
use crate::{engine, quota};

/// What all runs of a trial have in common.
pub struct Bench<'a> {
    pub generator: &'a Path,
    pub load: Load<'a>,
    /// The subject's counters, or why they are not read.
    pub meter: Result<PodMeter, String>,
    /// The counters of the echo server, if the workload has one, or why they are not read.
    pub upstream: Option<Result<PodMeter, String>>,
    /// The subject's containers, where they are read one by one: name and cgroup of each.
    pub containers: Vec<(String, OsString)>,
    /// The counters of the companions, if the run names some, or why they are not read.
    pub companions: Option<Result<Vec<PodMeter>, String>>,
    /// The node's `/proc`.
    pub proc: &'a Path,
    /// `/sys` of the probe's own container.
    pub sys: &'a Path,
    /// Path at which the subject adds up what its instances cost, if it does.
    pub instances: Option<&'a str>,
    /// CPUs of the node, if they could be counted.
    pub cpus: Option<u32>,
    /// Whether a noisy window is repeated.
    pub noise: NoiseRule,
    /// When all load must have ended.
    pub deadline: Instant,
}

/// What the warm-up found so far.
#[derive(Debug)]
pub struct Warm {
    pub warmup: Warmup,
    pub version: String,
    pub buckets: Buckets,
    pub(super) per_request: Duration,
    settling: Settling,
}

impl Warm {
    /// The state before the first part; `per_request` is how long the first correct answer took.
    pub fn new(per_request: Duration) -> Self {
        Self {
            warmup: Warmup::default(),
            version: String::new(),
            buckets: Buckets::CALIBRATION,
            per_request,
            settling: Settling::default(),
        }
    }

    /// Whether the rate still changes.
    pub fn moves(&self) -> bool {
        self.settling.is_settled() == Some(false)
    }

    /// Completes the state after the last part. If no parts may be added, the parts are too short
    /// to tell whether the rate has settled.
    #[must_use]
    pub fn done(mut self, amounts: &Amounts, took: Duration) -> Self {
        let is_settled = self.settling.is_settled();
        self.warmup.settled = is_settled.filter(|_| !amounts.settling.is_empty());
        self.warmup.duration_nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        progress(&format!("warm: {:.0} requests per second", self.warmup.rps));
        self
    }
}

impl Bench<'_> {
    /// Runs a part of the discarded load.
    pub fn warm_part(&self, warm: &mut Warm, amount: Amount) -> Result<(), Failure> {
        let run = self.run(amount, warm.buckets, warm.per_request, &Mutex::default())?;
        // One request per connection opens it.
        let uncounted = self.load.connections(amount);
        warm.warmup.requests += run.requests + u64::from(uncounted);
        warm.warmup.rps = run.rps();
        if let Some(distribution) = run.distribution {
            warm.buckets = Buckets::choose(distribution);
            warm.per_request = warm
                .per_request
                .max(Duration::from_secs_f64(distribution.p50));
        }
        warm.version = run.version;
        warm.settling.add(warm.warmup.rps);
        Ok(())
    }

    /// Whether a noisy window like `another` is to be repeated, and there is time for it.
    pub fn may_repeat(&self, another: &Window) -> bool {
        let needed = another.length + REQUEST_TIMEOUT;
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.noise.repeats() && left > needed
    }

    /// Runs the timed window once, part by part.
    pub fn window(&self, amount: Amount, warm: &Warm, buckets: Buckets) -> Result<Window, Failure> {
        let connections = self.load.connections(amount);
        let (first, others) = parts_of(amount, warm.warmup.rps, connections);
        let part = |amount| {
            self.part(buckets, |readings| {
                self.run(amount, buckets, warm.per_request, readings)
            })
        };
        let mut whole = part(first)?;
        for amount in others {
            whole = whole.then(part(amount)?);
        }
        Ok(self.judged(whole))
    }

    /// Runs `load` as a window of a single part.
    pub(super) fn metered(
        &self,
        buckets: Buckets,
        load: impl FnOnce(&Mutex<Readings>) -> Result<Run, Failure>,
    ) -> Result<Window, Failure> {
        Ok(self.judged(self.part(buckets, load)?))
    }

    /// Returns the whole window, with how noisy the node was in it.
    fn judged(&self, whole: Part) -> Window {
        let (run, mut timed) = whole.window();
        if let Ok(meter) = &self.meter {
            meter.observe_idle_services(&mut timed);
        }
        let noise = self.cpus.map(|cpus| Noise::from_window(&timed, cpus));
        Window::new(run, timed, noise.unwrap_or_default())
    }

    /// Runs `load`, with readings at both of its edges.
    fn part(
        &self,
        buckets: Buckets,
        load: impl FnOnce(&Mutex<Readings>) -> Result<Run, Failure>,
    ) -> Result<Part, Failure> {
        let readings = Mutex::new(Readings::new(self.meter.as_ref().ok()));
        let instances = self.instance_time();
        let run = load(&readings)?;
        let instances = instances.zip(self.instance_time());
        let readings = readings.into_inner().unwrap_or_default();
        progress(&format!(
            "{} requests, {:.0} per second",
            run.requests,
            run.rps()
        ));
        let timed = TimedWindow {
            start_unix_nanoseconds: run.start_unix_nanoseconds,
            duration_nanoseconds: u64::try_from(run.duration.as_nanos()).unwrap_or(u64::MAX),
            asked_nanoseconds: None,
            resolution_seconds: buckets.resolution,
            offset_nanoseconds: u64::try_from(buckets.offset.as_nanos()).unwrap_or(u64::MAX),
            repeats: 0,
            discarded: None,
            subject: readings.subject(self.meter.as_ref().ok()),
            instances: instances.and_then(|(before, after)| engine::between(before, after)),
            upstream_cpu_nanoseconds: readings.upstream(),
            containers: readings.containers(),
            companions_cpu_nanoseconds: readings.companions(),
            generator_cpu_nanoseconds: readings.generator(),
            generator_cpu_limit: quota::cpus(&self.sys.join("fs/cgroup")),
            probe_cpu_nanoseconds: readings.probe(),
            node: readings.node(),
            open_loop: None,
            fortio: serde_json::Value::Null,
            further: vec![],
        };
        Ok(Part::new(run, timed))
    }

    /// What the subject's instances have cost so far, if it adds that up.
    fn instance_time(&self) -> Option<InstanceTime> {
        engine::instance_time(self.load.target, self.instances?)
    }

    /// Loads for `time`, and returns the readings at both edges.
    pub fn calibrate(&self, time: Duration) -> Result<(Run, Readings), String> {
        let readings = Mutex::default();
        let run = self
            .run(
                Amount::Time(time),
                Buckets::CALIBRATION,
                Duration::ZERO,
                &readings,
            )
            .map_err(|failure| failure.message)?;
        Ok((run, readings.into_inner().unwrap_or_default()))
    }

    pub(super) fn run(
        &self,
        amount: Amount,
        buckets: Buckets,
        per_request: Duration,
        readings: &Mutex<Readings>,
    ) -> Result<Run, Failure> {
        let limit = limit(amount, self.load.connections(amount), per_request);
        self.generate(&self.load.task(amount, buckets), limit, readings)
            .map_err(|error| failure(FailureReason::LoadFailed, error.to_string()))
    }

    /// Runs the generator to its end, but no longer than `limit` or the trial's own deadline.
    pub(super) fn generate(
        &self,
        task: &Task,
        limit: Duration,
        readings: &Mutex<Readings>,
    ) -> Result<Run, child::Error> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let sources = Sources {
            meter: self.meter.as_ref().ok(),
            upstream: self.upstream.as_ref().and_then(|found| found.as_ref().ok()),
            containers: &self.containers,
            companions: self
                .companions
                .as_ref()
                .and_then(|found| found.as_deref().ok()),
            proc: self.proc,
        };
        let task = serde_json::to_string(task)
            .map_err(|error| child::Error::Start(std::io::Error::other(error)))?;
        let mut program = Command::new(self.generator);
        child::run(&mut program, &task, limit.min(left), |edge, pid| {
            if let Ok(mut readings) = readings.lock() {
                readings.take(edge, pid, sources);
            }
        })
        .and_then(|output| Run::parse(&output, self.load.status))
    }
}
