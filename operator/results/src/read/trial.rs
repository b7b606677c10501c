//! The numbers of one trial: a record in, rates, latencies and resources per request out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_model::noise::{self, Noise};
use wasmbench_model::rounding::{round_number, round_time};
use wasmbench_model::wire::document::{DiscardedWindow, LoadDocument, Meter};
use wasmbench_model::wire::open_loop::Quantiles;

use crate::read::additional::{self, Additional};
use crate::read::histogram::Histogram;
use crate::read::mix::{self, PartNumbers};
use crate::read::open_loop_trial as scheduled;
use crate::read::open_loop_trial::OpenLoopTrial;
use crate::read::pod_use::{SandboxUse, ShimUse, sandbox_use, shim_use};
use crate::read::traffic::Traffic;
use crate::read::{clock, fortio, generator, pod_use};
use crate::vocabulary::measure::Metric;
use crate::vocabulary::trial_reason::TrialReason;

/// A percentile needs this many requests beyond it: p99 needs at least 1000 requests, p90 100,
/// p50 20. With fewer, it is determined by single requests.
pub const REQUESTS_BEYOND_PERCENTILE: u64 = 10;

/// Whether `requests` are enough for the percentile that leaves one request in `one_in` beyond it.
pub const fn carries(requests: u64, one_in: u64) -> bool {
    requests >= REQUESTS_BEYOND_PERCENTILE * one_in
}

/// The state of a trial.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum TrialState {
    /// Measured, and included in the numbers.
    Valid,
    /// Measured, but requests failed, answers or the engine mode were wrong, or time was measured
    /// too coarsely: shown, but excluded from the numbers.
    Invalid,
    /// Tried, but without a usable measurement.
    Failed,
    /// Not tried.
    Skipped,
}

/// The trials that are included in the numbers.
pub fn valid(trials: &[Trial]) -> impl Iterator<Item = &Trial> {
    let is_valid = |trial: &&Trial| trial.state == TrialState::Valid;
    trials.iter().filter(is_valid)
}

/// One trial with its numbers. A number that could not be measured is absent, never zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Block, counted from 1.
    pub block: u32,
    /// Position in the run's shuffled order, counted from 0.
    pub position: u32,
    /// The state of the trial.
    pub state: TrialState,
    /// Why the trial failed, was skipped or is invalid.
    pub reason: Option<TrialReason>,
    /// What was measured.
    pub metrics: Metrics,
}

/// What was measured in one timed window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Requests with the expected status.
    pub requests: u64,
    /// All other requests.
    pub errors: u64,
    /// The failed requests of the window by status; empty if the generator does not report it, and if read
    /// from a summary, which has them by point.
    pub failed_by_status: BTreeMap<i32, u64>,
    /// Successful requests per second.
    pub rps: Option<f64>,
    /// The same in each part of the window, in order; empty if read from a summary.
    pub rates: Vec<f64>,
    /// Median latency of the successful requests, in microseconds.
    pub p50: Option<f64>,
    /// 90th percentile of their latency, in microseconds.
    pub p90: Option<f64>,
    /// 99th percentile of their latency, in microseconds.
    pub p99: Option<f64>,
    /// Latencies of the successful requests; empty if read from a summary, and in an open loop,
    /// whose service times are exact.
    pub latency: Histogram,
    /// Whether latencies were resolved so coarsely that the median is a guess.
    pub clock_too_coarse: bool,
    /// CPU time of the subject's pod per request of the window, in microseconds.
    pub cpu: Option<f64>,
    /// CPU time of the node's services for the subject's log, per request of the window, in
    /// microseconds: 0 where they used too little for it to matter.
    pub log_cpu: Option<f64>,
    /// CPU time per request of each container of a pod that somebody else has made, in microseconds.
    pub containers_cpu: BTreeMap<String, f64>,
    /// CPU time of the companions per request of the window, in microseconds.
    pub companions_cpu: Option<f64>,
    /// CPUs that the subject's pod used: its CPU time per time of the window.
    pub cpus: Option<f64>,
    /// Memory of the subject's pod, in bytes; see [`MemorySource`].
    pub memory: Option<u64>,
    /// The kind of memory.
    pub memory_source: Option<MemorySource>,
    /// CPU time of the load generator as a share (0 to 1) of its available CPUs.
    pub generator_cpu_share: Option<f64>,
    /// CPU time of the load generator as a share (0 to 1) of what generator and subject used
    /// together; absent if each has its own CPUs.
    pub generator_work_share: Option<f64>,
    /// How noisy the node was.
    pub noise: Noise,
    /// Why counters are missing without which noise cannot be judged; absent if none is, and if read
    /// from a summary.
    pub no_counters: Option<String>,
    /// Whether the window was too short to determine the noise, although the node's counters were
    /// read.
    pub is_too_short_for_noise: bool,
    /// The window that was discarded because of noise, if the trial was measured once more.
    pub discarded: Option<Discarded>,
    /// Rate times mean latency as a share of the connections.
    pub connections_busy: Option<f64>,
    /// Scheduler periods in which a CPU limit throttled the subject.
    pub throttled_periods: Option<u64>,
    /// The time for which it did, added up over CPUs, as a share of the window's length: above 1
    /// where the limit stopped several threads at once.
    pub throttled_share: Option<f64>,
    /// Length of the window as a multiple of the requested length; absent where a number of requests
    /// was requested, and if read from a summary.
    pub relative_length: Option<f64>,
    /// What the generator saw; empty if read from a summary.
    pub traffic: Traffic,
    /// The requests of a mix, by name; empty for a single request, and if read from a summary.
    pub parts: BTreeMap<String, PartNumbers>,
    /// Bytes of the answer before the window, if those of the window had another size; absent if
    /// read from a summary.
    pub other_bytes_before: Option<u64>,
    /// What the pod's shim used outside its cgroup.
    pub shim: Option<ShimUse>,
    /// What else is known about the pod.
    pub sandbox: Option<SandboxUse>,
    /// Measures that are compared only in runs that name them; without the others once the trial is
    /// part of a cell.
    pub additional: Additional,
    /// Latencies from the schedule, if the load had one. `p50` to `p99` are then service times.
    pub open_loop: Option<OpenLoopTrial>,
}

impl Metrics {
    /// The number of `metric`; `None` if loads do not have it.
    pub fn value(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::ThroughputRps => self.rps,
            Metric::WarmP50 => self.p50,
            Metric::CpuPerRequest => self.cpu,
            Metric::Memory => self.memory.map(|bytes| bytes as f64),
            Metric::Succeeded => {
                let all = self.requests + self.errors;
                (all > 0).then(|| self.requests as f64 / all as f64)
            }
            Metric::OpenLoopP50 => self.open_loop.map(|times| times.p50_microseconds),
            Metric::OpenLoopP99 => self.open_loop.map(|times| times.p99_microseconds),
            Metric::ContextSwitchesPerCpuSecond
            | Metric::PageFaultsPerRequest
            | Metric::SystemCpuPerRequest
            | Metric::InstanceTimePerRequest
            | Metric::CpuUse => self.additional.get(&metric).copied(),
            // Loads do not have these numbers.
            Metric::ColdStartListening
            | Metric::ColdStartAnswer
            | Metric::Capacity
            | Metric::PayloadCpuPerMegabyte
            | Metric::PayloadFixedCpu
            | Metric::MemoryPerInstance => None,
        }
    }
}

/// What is known about a window that was discarded because the node was noisy; all fields are empty
/// if read from a summary.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Discarded {
    /// Requests per second.
    pub rps: Option<f64>,
    /// How noisy the node was.
    pub noise: Noise,
}

impl Discarded {
    fn from_window(window: DiscardedWindow, cpus: Option<u32>) -> Self {
        Self {
            rps: Some(round_number(window.rps)),
            noise: Noise {
                others: window.others_cpu_share,
                stolen: window.steal_share,
                memory_waits: window.memory_wait_share,
                cpus,
            },
        }
    }
}

/// The kernel counter from which a memory number comes; the best one available. The peak is not
/// among them: it includes the start of the container, which for a small service takes far more
/// than the service ever uses.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum MemorySource {
    /// What the pod held at the end of the window: its pages in use except inactive file pages.
    Held,
    /// The working set at the end of the window: all memory except inactive file pages.
    WorkingSet,
    /// All memory at the end of the window, including page cache.
    Usage,
}

/// The numbers of a document's timed window; `Ok(None)` if it has none.
pub fn metrics(
    document: &LoadDocument,
    expected_status: u16,
) -> Result<Option<Metrics>, fortio::Error> {
    let Some(window) = &document.timed else {
        return Ok(None);
    };
    let (load, rates) = fortio::from_window(window, expected_status)?;
    let exact = window.open_loop.map(|window| window.service);
    let meter = window.subject.as_ref();
    let (memory, memory_source) = meter.map(memory).unzip();
    let any_success = load.succeeded > 0;
    let percentile = |share: f64, exact_value: fn(&Quantiles) -> f64| {
        let exact = exact.as_ref().map(exact_value);
        let found = exact.or_else(|| load.latency.percentile(share));
        found.filter(|_| any_success).map(round_time)
    };
    let list = document.environment.facts.get("cpus");
    let cpus = list.and_then(|list| noise::cpus(list));
    let noise = cpus
        .map(|cpus| Noise::from_window(window, cpus))
        .unwrap_or_default();
    let lists = document.cpus.as_ref();
    Ok(Some(Metrics {
        requests: load.succeeded,
        errors: load.failed,
        failed_by_status: load.failed_by_status.clone(),
        rates,
        rps: any_success.then(|| round_number(load.succeeded as f64 / load.seconds)),
        p50: percentile(0.50, |exact| exact.p50_microseconds),
        p90: percentile(0.90, |exact| exact.p90_microseconds),
        p99: percentile(0.99, |exact| exact.p99_microseconds),
        latency: if exact.is_some() {
            Histogram::default()
        } else {
            load.latency.clone()
        },
        clock_too_coarse: clock::is_too_coarse(
            exact.is_none().then_some(&load.latency),
            &document.environment,
        ),
        cpu: meter
            .and_then(|meter| per_request(meter.cpu_nanoseconds, &load))
            .map(round_time),
        log_cpu: meter
            .and_then(|meter| per_request(meter.services?.log_nanoseconds(), &load))
            .map(round_time),
        containers_cpu: window
            .containers
            .iter()
            .filter_map(|(name, used)| Some((name.clone(), round_time(per_request(*used, &load)?))))
            .collect(),
        companions_cpu: window
            .companions_cpu_nanoseconds
            .and_then(|used| per_request(used, &load))
            .map(round_time),
        cpus: pod_use::cpus(window).map(round_number),
        memory,
        memory_source,
        generator_cpu_share: cpus
            .and_then(|cpus| generator::cpu_share(window, lists, cpus))
            .map(round_number),
        generator_work_share: generator::work_share(window, lists).map(round_number),
        noise,
        no_counters: COUNTERS_OF_NOISE
            .iter()
            .find_map(|name| document.absent.get(*name))
            .cloned(),
        is_too_short_for_noise: cpus.is_some() && noise::is_too_short(window),
        connections_busy: load.connections_busy.map(round_time),
        discarded: window
            .discarded
            .map(|discarded| Discarded::from_window(discarded, cpus)),
        throttled_periods: meter.and_then(|meter| meter.throttled_periods),
        throttled_share: pod_use::throttled_share(window).map(round_number),
        relative_length: window
            .asked_nanoseconds
            .filter(|requested| *requested > 0)
            .map(|requested| load.seconds * 1e9 / requested as f64),
        other_bytes_before: other_bytes_before(document, &load.traffic),
        traffic: load.traffic.clone(),
        parts: mix::parts(window, load.seconds),
        shim: shim_use(window),
        sandbox: sandbox_use(window, load.succeeded + load.failed),
        additional: additional::numbers(document, window, all_requests(&load)),
        open_loop: window.open_loop.as_ref().map(scheduled::from_window),
    }))
}

/// Fields of the window that noise is worked out from.
const COUNTERS_OF_NOISE: [&str; 3] = ["subject", "node", "generatorCpuNanoseconds"];

/// Bytes of the answer before the window, if those of the window had another size.
fn other_bytes_before(document: &LoadDocument, traffic: &Traffic) -> Option<u64> {
    let before = document.answer_before.as_ref()?.body_bytes;
    let observed = traffic.answer_bytes?;
    ((observed.min, observed.max) != (before, before)).then_some(before)
}

/// All requests of a window. One that was sent again may have cost the subject time twice.
fn all_requests(load: &fortio::Load) -> u64 {
    load.succeeded + load.failed + load.traffic.resent
}

/// CPU time per request, in microseconds.
fn per_request(nanoseconds: u64, load: &fortio::Load) -> Option<f64> {
    let requests = all_requests(load);
    (requests > 0).then(|| nanoseconds as f64 / 1e3 / requests as f64)
}

fn memory(meter: &Meter) -> (u64, MemorySource) {
    match (meter.memory_held_bytes, meter.memory_working_set_bytes) {
        (Some(bytes), _) => (bytes, MemorySource::Held),
        (None, Some(bytes)) => (bytes, MemorySource::WorkingSet),
        (None, None) => (meter.memory_bytes, MemorySource::Usage),
    }
}

#[cfg(test)]
mod tests {
    use wasmbench_model::wire::request::{DEFAULT_REQUESTS, FEWEST_REQUESTS};

    use super::*;

    fn meter() -> Meter {
        Meter {
            cpu_nanoseconds: 6_000_000,
            memory_bytes: 30,
            ..Meter::default()
        }
    }

    #[test]
    fn cpu_time_is_shared_by_all_requests_of_the_window_and_by_those_sent_again() {
        let load = fortio::Load {
            seconds: 1.0,
            succeeded: 18,
            failed: 10,
            failed_by_status: BTreeMap::new(),
            latency: Histogram::default(),
            connections_busy: None,
            traffic: Traffic {
                resent: 2,
                ..Traffic::default()
            },
        };
        assert_eq!(per_request(meter().cpu_nanoseconds, &load), Some(200.0));
    }

    #[test]
    fn memory_is_what_the_pod_holds_if_the_kernel_reports_it_and_never_the_peak() {
        let mut meter = meter();
        meter.memory_peak_bytes = Some(50);
        assert_eq!(memory(&meter), (30, MemorySource::Usage));
        meter.memory_working_set_bytes = Some(20);
        assert_eq!(memory(&meter), (20, MemorySource::WorkingSet));
        meter.memory_held_bytes = Some(10);
        assert_eq!(memory(&meter), (10, MemorySource::Held));
    }

    #[test]
    fn the_fewest_requests_carry_a_p50_and_the_default_carries_a_p99() {
        for (requests, one_in) in [(FEWEST_REQUESTS, 2), (DEFAULT_REQUESTS, 100)] {
            assert!(carries(requests.into(), one_in));
            assert!(!carries(u64::from(requests) - 1, one_in));
        }
    }
}
