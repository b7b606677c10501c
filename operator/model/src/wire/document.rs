//! What `wasmbench-probe load` prints: one JSON document, the last line of its output.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use wasmbench_api::absent::is_zero;

use crate::wire::failure::Failure;
use crate::wire::instrument::{CpuLists, EngineFacts, GeneratorCeiling};
use crate::wire::open_loop::OpenLoopWindow;

/// Name and version of the document's schema.
pub const LOAD_SCHEMA: &str = "wasmbench.dev/load/v2";

/// The outcome of one trial as the probe saw it.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct LoadDocument {
    /// [`LOAD_SCHEMA`].
    pub schema: String,
    /// Version of the probe.
    pub probe_version: String,
    /// Version of fortio's runner, which times the requests.
    pub fortio_version: String,
    /// Why there is no usable measurement; absent when there is one.
    pub failure: Option<Failure>,
    /// From the first attempt to the first correct answer.
    pub readiness: Readiness,
    /// The answer before the load.
    pub answer_before: Option<Answer>,
    /// The answer after the load.
    pub answer_after: Option<Answer>,
    /// The answers to the further requests of a mix.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further_answers: Vec<FurtherAnswer>,
    /// The discarded load before the timed window.
    pub warmup: Option<Warmup>,
    /// The timed window. Present even with a failure, when the load itself ran.
    pub timed: Option<TimedWindow>,
    /// The rungs that were tried, in ascending order; empty for a load of one window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rungs: Vec<Rung>,
    /// What was measured with bodies of each size, in ascending order; empty for other loads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<PayloadSize>,
    /// Which CPUs the subject and the load generator could use; absent if this cannot be read.
    pub cpus: Option<CpuLists>,
    /// The most that the load generator reaches on this node; only in trials that have to
    /// measure it.
    pub generator_ceiling: Option<GeneratorCeiling>,
    /// What the subject reports about its engine, after the load; only for variants that claim one.
    pub engine: Option<EngineFacts>,
    /// Why requested numbers are missing, by the name of their field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub absent: BTreeMap<String, String>,
    /// The node as the probe saw it.
    pub environment: Environment,
}

/// From the first attempt to the first correct answer.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Readiness {
    /// Microseconds from the probe's first attempt until the correct answer or until it gave up.
    pub waited_microseconds: u64,
    /// Attempts made.
    pub attempts: u32,
}

/// The answers to a request of a mix other than its first.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FurtherAnswer {
    /// Name of the request.
    pub request: String,
    /// The answer before the load.
    pub before: Option<Answer>,
    /// The answer after it.
    pub after: Option<Answer>,
}

/// One answer of the subject.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// HTTP status code.
    pub status: u16,
    /// Bytes of the body, the variant's prefix included.
    pub body_bytes: u64,
    /// SHA-256 in hex of the body without the variant's prefix.
    pub body_sha256: String,
    /// SHA-256 in hex of the same JSON, with its keys in order and without spaces; absent where the
    /// answer does not say that it is JSON, is none, or has more than 1 MiB.
    pub json_sha256: Option<String>,
    /// The first 64 characters of that body, control characters replaced.
    pub excerpt: String,
}

impl Answer {
    /// Whether two answers are the same: byte by byte or, if both say that they are JSON, by value.
    pub fn is_same(&self, other: &Self) -> bool {
        let json = self.json_sha256.is_some() && self.json_sha256 == other.json_sha256;
        json || self.body_sha256 == other.body_sha256
    }
}

/// The discarded load.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Warmup {
    /// Wall time in nanoseconds, calibration included.
    pub duration_nanoseconds: u64,
    /// Requests sent.
    pub requests: u64,
    /// Requests per second in its last part.
    pub rps: f64,
    /// Whether the rate had settled by its end; absent if its parts are too short to judge.
    pub settled: Option<bool>,
    /// Parts that were added because the rate was still changing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub added_parts: u32,
}

/// The timed window.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct TimedWindow {
    /// Start on the node's wall clock, nanoseconds since the Unix epoch.
    pub start_unix_nanoseconds: i64,
    /// Length on the monotonic clock, from just before the first timed request to just after
    /// its last, in nanoseconds; the meter covers the same span.
    pub duration_nanoseconds: u64,
    /// The requested length, in nanoseconds; absent where a number of requests was.
    pub asked_nanoseconds: Option<u64>,
    /// Histogram resolution given to the load generator, in seconds: all edges are multiples of it.
    pub resolution_seconds: f64,
    /// Where the histogram's first bucket ends and the multiples begin.
    #[serde(default)]
    pub offset_nanoseconds: u64,
    /// Windows thrown away because the observed range did not fit the buckets.
    pub repeats: u32,
    /// The noisier of two windows, if the node was noisy in the first; this window is the other
    /// one.
    pub discarded: Option<DiscardedWindow>,
    /// Latencies counted from a schedule; only for loads that have one.
    pub open_loop: Option<OpenLoopWindow>,
    /// What the load generator printed, unchanged, in the format of fortio's runner.
    pub fortio: serde_json::Value,
    /// If the window consists of several consecutive runs of the generator, what counts of the runs after
    /// the first. All fields except `fortio` and this one cover the whole window.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<serde_json::Value>,
    /// The subject's resources over the window; absent where they cannot be read.
    pub subject: Option<Meter>,
    /// What the subject's Wasm instances cost; only for servers of kernels, which add it up.
    pub instances: Option<InstanceTime>,
    /// CPU time of the echo server's pod over the window, in nanoseconds; absent without one.
    pub upstream_cpu_nanoseconds: Option<u64>,
    /// CPU time over the window of each container of a pod that somebody else has made, by its name, in
    /// nanoseconds: parts of that of the subject.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub containers: BTreeMap<String, u64>,
    /// CPU time over the window of the pods that belong to the experiment without being measured, in
    /// nanoseconds; absent if the run names none, or if that of one of them could not be read.
    pub companions_cpu_nanoseconds: Option<u64>,
    /// CPU time of the load generator over the window, in nanoseconds.
    pub generator_cpu_nanoseconds: Option<u64>,
    /// Number of CPUs that a limit leaves to the probe's container; absent without a limit.
    pub generator_cpu_limit: Option<f64>,
    /// CPU time of the probe itself, without the generator, over the window, in nanoseconds.
    pub probe_cpu_nanoseconds: Option<u64>,
    /// CPU time of the whole node over the window; absent where it cannot be read.
    pub node: Option<NodeCpu>,
}

impl TimedWindow {
    /// What counts of each run of the generator, in order.
    pub fn runs(&self) -> impl Iterator<Item = &serde_json::Value> {
        std::iter::once(&self.fortio).chain(&self.further)
    }
}

/// One rung of a ladder: a window at one rate. Being late because the subject is slow is a result.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Rung {
    /// The requested rate, in requests per second.
    pub requested_rps: f64,
    /// Whether it is no rung of the ladder, but was tried after the climb, between the two next to the
    /// crossing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub between: bool,
    /// What was measured, without the load generator's own output; absent if the subject took more
    /// than twice the time.
    pub window: Option<TimedWindow>,
}

impl Rung {
    /// What was measured from the schedule.
    pub fn open_loop(&self) -> Option<&OpenLoopWindow> {
        self.window.as_ref()?.open_loop.as_ref()
    }
}

/// What was measured with bodies of one size. The subject's first answer had the body that was sent.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct PayloadSize {
    /// Size of the body that was sent, in bytes.
    pub bytes: u32,
    /// Size of the body that came back, in bytes: with the variant's prefix.
    pub answer_bytes: u64,
    /// Requests that were answered with the expected status.
    pub requests: u64,
    /// All other requests.
    pub failed: u64,
    /// The timed window, without the load generator's own output.
    pub window: TimedWindow,
}

/// A window that was thrown away because the node was noisier in it than in the one that is kept.
/// Its rate is evidence only: which window is kept depends only on the noise.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DiscardedWindow {
    /// Start on the node's wall clock, nanoseconds since the Unix epoch; shows whether it came
    /// first.
    pub start_unix_nanoseconds: i64,
    /// Length, in nanoseconds.
    pub duration_nanoseconds: u64,
    /// Requests per second; all of them were answered as expected.
    pub rps: f64,
    /// CPU time of others as a share (0 to 1) of all CPUs of the node.
    pub others_cpu_share: Option<f64>,
    /// CPU time that the hypervisor withheld, as a share (0 to 1) of all CPUs of the node.
    pub steal_share: Option<f64>,
    /// Share (0 to 1) of the window in which a task outside the subject's pod waited for memory.
    pub memory_wait_share: Option<f64>,
}

/// CPU time of all processors of the node together, counted by the kernel in hundredths of a
/// second.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NodeCpu {
    /// Not idle, in nanoseconds.
    pub busy_nanoseconds: u64,
    /// The part of it that went to interrupts (hard and soft: packets) and that the kernel charges
    /// to no task and thus to no pod; absent if it charges the interrupted task.
    pub interrupts_nanoseconds: Option<u64>,
    /// Wanted by the node but given to other virtual machines, in nanoseconds.
    pub steal_nanoseconds: u64,
    /// For how long at least one runnable task waited for a CPU (PSI, `some`), in nanoseconds;
    /// absent if the kernel does not report it.
    pub pressure_nanoseconds: Option<u64>,
    /// The same for memory, in nanoseconds: at least one task waited until some was freed or read
    /// back.
    pub memory_pressure_nanoseconds: Option<u64>,
}

/// Resources of the subject's pod over the timed window, from cumulative cgroup counters.
/// A field that the kernel does not offer is absent, never zero.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Meter {
    /// 1 or 2.
    pub cgroup_version: u8,
    /// CPU time, in nanoseconds.
    pub cpu_nanoseconds: u64,
    /// CPU time in user mode, in nanoseconds.
    pub cpu_user_nanoseconds: Option<u64>,
    /// CPU time in the kernel, in nanoseconds.
    pub cpu_system_nanoseconds: Option<u64>,
    /// Memory at the end of the window, page cache included, in bytes.
    pub memory_bytes: u64,
    /// The same without inactive file pages: what the kubelet calls the working set.
    pub memory_working_set_bytes: Option<u64>,
    /// The working set when the window began, in bytes: memory was steady if the two are close.
    pub memory_working_set_start_bytes: Option<u64>,
    /// The part of the working set that is in use, in bytes: without pages that the kernel charged
    /// ahead of need.
    pub memory_held_bytes: Option<u64>,
    /// Largest memory since the pod began, in bytes.
    pub memory_peak_bytes: Option<u64>,
    /// Scheduler periods in which a CPU limit stopped the pod.
    pub throttled_periods: Option<u64>,
    /// Time for which a CPU limit stopped the pod, in nanoseconds.
    pub throttled_nanoseconds: Option<u64>,
    /// Scheduler periods of the CPU limit in which the pod ran.
    pub limit_periods: Option<u64>,
    /// How often memory reached its limit, so that the kernel had to free some before it gave more.
    pub memory_limit_hits: Option<u64>,
    /// Processes that were killed because memory was at its limit.
    pub oom_kills: Option<u64>,
    /// Page faults, major ones included. The kernel adds them up 64 at a time for each CPU.
    pub page_faults: Option<u64>,
    /// The pause container's share of the numbers above.
    pub pause: Option<Pause>,
    /// What is known about the individual processes of the pod's containers, without pause.
    pub processes: Option<Processes>,
    /// Time for which the pod waited for resources; only cgroup v2 reports it.
    pub pressure: Option<Pressure>,
    /// Processes that worked for the pod outside its cgroup; not part of the numbers above.
    pub outside: Option<Outside>,
    /// What the node's services used that carry, among other things, what the pod writes to its
    /// log; absent where they cannot be read.
    pub services: Option<NodeServices>,
}

/// The time that Wasm instances cost apart from their work, between a reading just before the load and
/// one just after it. The load's unmeasured requests are part of it.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct InstanceTime {
    /// Calls that were answered, each by an instance of its own.
    pub calls: u64,
    /// Time in which the instances were made and dropped, in nanoseconds.
    pub nanoseconds: u64,
    /// What the instances used that were processes, of which the pod's threads show nothing any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<Switches>,
}

/// The container that only holds a pod's namespaces.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Pause {
    /// CPU time over the window, in nanoseconds.
    pub cpu_nanoseconds: u64,
    /// Memory at its end, page cache included, in bytes.
    pub memory_bytes: u64,
}

/// Processes of the pod's containers, without pause.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Processes {
    /// How many were alive at the end of the window.
    pub count: u32,
    /// How often their threads gave up a CPU over the window. Absent if there are too many threads.
    pub switches: Option<Switches>,
}

/// Context switches over the window of those threads whose counts could be read, and their CPU time,
/// which shows how much of the pod's work they stand for.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Switches {
    /// To wait for something.
    pub voluntary: u64,
    /// Because the scheduler wanted the CPU for another.
    pub involuntary: u64,
    /// CPU time over the window of the threads whose switches these are, in nanoseconds; 0 in records
    /// of versions that did not read it.
    #[serde(default)]
    pub cpu_nanoseconds: u64,
}

impl Switches {
    /// Both together.
    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            voluntary: self.voluntary.saturating_add(other.voluntary),
            involuntary: self.involuntary.saturating_add(other.involuntary),
            cpu_nanoseconds: self.cpu_nanoseconds.saturating_add(other.cpu_nanoseconds),
        }
    }

    /// What came since `start`; `None` if a number became smaller, as after a restart.
    pub fn since(self, start: Self) -> Option<Self> {
        Some(Self {
            voluntary: self.voluntary.checked_sub(start.voluntary)?,
            involuntary: self.involuntary.checked_sub(start.involuntary)?,
            cpu_nanoseconds: self.cpu_nanoseconds.checked_sub(start.cpu_nanoseconds)?,
        })
    }
}

/// Time over the window in which at least one thread of the pod waited for a resource (`some` of
/// the kernel's pressure stall information), in nanoseconds.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Pressure {
    /// For a CPU.
    pub cpu_nanoseconds: Option<u64>,
    /// For memory.
    pub memory_nanoseconds: Option<u64>,
    /// For input and output.
    pub io_nanoseconds: Option<u64>,
}

/// Processes of the container runtime that work for one pod but are outside its cgroup: the shim.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Outside {
    /// How many there are.
    pub processes: u32,
    /// CPU time over the window, in nanoseconds.
    pub cpu_nanoseconds: u64,
    /// Resident memory at the end of the window, in bytes. File pages in it are shared with the
    /// shims of other pods.
    pub resident_bytes: u64,
    /// The part of it that belongs only to these processes, in bytes.
    pub anonymous_bytes: u64,
}

/// The container runtime, the kubelet and journald: they carry the logs of all pods, and do other
/// work for them.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NodeServices {
    /// CPU time over the window, in nanoseconds, counted in hundredths of a second.
    pub cpu_nanoseconds: u64,
    /// CPU time that they use over as long a time without the load, in nanoseconds: read right
    /// after it, and only where they used enough of a CPU in the window for it to matter.
    pub idle_cpu_nanoseconds: Option<u64>,
}

impl NodeServices {
    /// CPU time beyond what they use without the load, in nanoseconds: for the log of the pod that
    /// is loaded. 0 where they used too little for it to matter.
    pub fn log_nanoseconds(self) -> u64 {
        let idle = self.idle_cpu_nanoseconds.unwrap_or(self.cpu_nanoseconds);
        self.cpu_nanoseconds.saturating_sub(idle)
    }
}

/// The node as a measuring instrument. A field that cannot be read is absent.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// Facts that identify the node: `kernel`, `cpuModel`, `microcode`, `cpus`, `smt`, `governor`,
    /// `mitigations`, `memoryBytes`, `cgroupVersion`, `clockSource`, `virtualization`, ...
    pub facts: BTreeMap<String, String>,
    /// Facts that changed during the measurement, with their values from before it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub before: BTreeMap<String, String>,
}

impl Environment {
    /// What was read after the measurement, with the facts that have changed since `before` it. A
    /// fact that only one of the two has is not a change: it may not have been readable.
    #[must_use]
    pub fn since(self, before: &Self) -> Self {
        let changed = before.facts.iter().filter(|(name, value)| {
            let now = self.facts.get(*name);
            now.is_some_and(|now| now != *value)
        });
        Self {
            before: changed.map(|(n, v)| (n.clone(), v.clone())).collect(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn switches_of_earlier_versions_are_those_of_no_cpu_time() {
        let earlier = json!({"voluntary": 5, "involuntary": 2, "threadsEnded": 0});
        let read: Switches = serde_json::from_value(earlier).unwrap();
        let expected = Switches {
            voluntary: 5,
            involuntary: 2,
            cpu_nanoseconds: 0,
        };
        assert_eq!(read, expected);
    }
}
