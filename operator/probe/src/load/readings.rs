//! What is read at the two edges of a window: the subject's counters and the generator's CPU time.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::time::{ClockId, clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use wasmbench_model::wire::document::{Meter, NodeCpu, Processes};

use crate::generator::child::Edge;
use crate::meter::{Counters, Memory, PodMeter, Threads};
use crate::node;

/// Where the readings come from.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// The subject's counters.
    pub meter: Option<&'a PodMeter>,
    /// The echo server's counters, if there is one.
    pub upstream: Option<&'a PodMeter>,
    /// The counters of each companion, if the run names some and all were found.
    pub companions: Option<&'a [PodMeter]>,
    /// The subject's containers, where they are read one by one: name and cgroup of each.
    pub containers: &'a [(String, OsString)],
    /// The node's `/proc`.
    pub proc: &'a Path,
}

/// The readings at one edge.
#[derive(Clone, Copy, Debug)]
struct Reading {
    counters: Option<Counters>,
    upstream_nanoseconds: Option<u64>,
    companions_nanoseconds: Option<u64>,
    generator_nanoseconds: Option<u64>,
    node: Option<NodeCpu>,
    probe_nanoseconds: Option<u64>,
}

/// The readings at both edges of a window.
#[derive(Debug, Default)]
pub struct Readings {
    start: Option<Reading>,
    end: Option<Reading>,
    memory_before: Option<Memory>,
    memory: Option<Memory>,
    known: Vec<PathBuf>,
    containers_before: BTreeMap<String, u64>,
    containers: BTreeMap<String, u64>,
    threads_before: Option<Threads>,
    processes: Option<Processes>,
}

impl Readings {
    /// Looks up the subject's processes, before the window begins.
    pub fn new(meter: Option<&PodMeter>) -> Self {
        Self {
            known: meter.map(PodMeter::processes).unwrap_or_default(),
            ..Self::default()
        }
    }

    /// Reads everything, what changes fastest first.
    pub fn take(&mut self, edge: Edge, pid: Pid, sources: Sources<'_>) {
        let meter = sources.meter;
        let counters = meter.and_then(PodMeter::counters);
        let reading = Reading {
            counters,
            upstream_nanoseconds: sources.upstream.and_then(PodMeter::cpu_nanoseconds),
            companions_nanoseconds: sources.companions.and_then(all_cpu_nanoseconds),
            generator_nanoseconds: cpu_nanoseconds(pid),
            node: node::cpu(sources.proc),
            probe_nanoseconds: own_cpu_nanoseconds(),
        };
        let one = |(name, cgroup): &(String, OsString)| {
            Some((name.clone(), meter?.container_nanoseconds(cgroup)?))
        };
        let containers = sources.containers.iter().filter_map(one).collect();
        match edge {
            Edge::Start => {
                self.start = Some(reading);
                self.containers_before = containers;
                self.memory_before = meter.and_then(PodMeter::memory);
                self.threads_before = PodMeter::threads(&self.known);
            }
            Edge::End => {
                self.end = Some(reading);
                self.containers = containers;
                self.memory = meter.and_then(PodMeter::memory);
                let before = self.threads_before.as_ref();
                self.processes = meter.and_then(|meter| meter.processes_since(before));
            }
        }
    }

    /// The subject's resources over the run.
    pub fn subject(&self, meter: Option<&PodMeter>) -> Option<Meter> {
        let (start, end) = (self.start?, self.end?);
        let used = meter?.used(&start.counters?, &end.counters?, self.memory?);
        Some(Meter {
            memory_working_set_start_bytes: self.memory_before.and_then(|m| m.working_set()),
            page_faults: self.since_start(|memory| memory.faults),
            memory_limit_hits: self.since_start(|memory| memory.limit_hits),
            oom_kills: self.since_start(|memory| memory.oom_kills),
            processes: self.processes,
            ..used
        })
    }

    /// By how much a counter of the subject's memory grew over the window.
    fn since_start(&self, counter: fn(&Memory) -> Option<u64>) -> Option<u64> {
        let (before, after) = (self.memory_before.as_ref()?, self.memory.as_ref()?);
        counter(after)?.checked_sub(counter(before)?)
    }

    /// CPU time of the echo server over the window.
    pub fn upstream(&self) -> Option<u64> {
        let (start, end) = (self.start?, self.end?);
        end.upstream_nanoseconds?
            .checked_sub(start.upstream_nanoseconds?)
    }

    /// CPU time of each container over the window.
    pub fn containers(&self) -> BTreeMap<String, u64> {
        let since = |(name, end): (&String, &u64)| {
            let start = self.containers_before.get(name)?;
            Some((name.clone(), end.checked_sub(*start)?))
        };
        self.containers.iter().filter_map(since).collect()
    }

    /// CPU time of the companions over the window.
    pub fn companions(&self) -> Option<u64> {
        let (start, end) = (self.start?, self.end?);
        end.companions_nanoseconds?
            .checked_sub(start.companions_nanoseconds?)
    }

    /// CPU time of the node over the window.
    pub fn node(&self) -> Option<NodeCpu> {
        Some(node::used(self.start?.node?, self.end?.node?))
    }

    /// CPU time of the probe itself over the window.
    pub fn probe(&self) -> Option<u64> {
        Some(
            self.end?
                .probe_nanoseconds?
                .saturating_sub(self.start?.probe_nanoseconds?),
        )
    }

    /// CPU time of the load generator over the window.
    pub fn generator(&self) -> Option<u64> {
        let (start, end) = (self.start?, self.end?);
        Some(
            end.generator_nanoseconds?
                .saturating_sub(start.generator_nanoseconds?),
        )
    }
}

/// CPU time of all these pods together; `None` unless each of them can be read.
fn all_cpu_nanoseconds(pods: &[PodMeter]) -> Option<u64> {
    pods.iter().map(PodMeter::cpu_nanoseconds).sum()
}

/// CPU time of all threads of a process: its CPU clock counts nanoseconds, whereas `/proc/PID/stat`
/// counts hundredths of a second.
fn cpu_nanoseconds(pid: Pid) -> Option<u64> {
    let time = clock_gettime(clock_getcpuclockid(pid).ok()?).ok()?;
    u64::try_from(Duration::from(time).as_nanos()).ok()
}

/// CPU time of this process. Its children, the generator among them, are not part of it.
fn own_cpu_nanoseconds() -> Option<u64> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?;
    u64::try_from(Duration::from(time).as_nanos()).ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Instant;

    use super::*;

    #[test]
    fn the_cpu_time_of_a_child_is_read_while_it_runs() {
        let began = Instant::now();
        let mut child = Command::new("/bin/sh")
            .args(["-c", "while :; do :; done"])
            .spawn()
            .unwrap();
        let pid = Pid::from_raw(i32::try_from(child.id()).unwrap());
        std::thread::sleep(Duration::from_millis(200));
        let used = cpu_nanoseconds(pid);
        let elapsed = began.elapsed();
        child.kill().unwrap();
        child.wait().unwrap();
        let used = Duration::from_nanos(used.unwrap());
        // Even on a crowded machine, a busy loop gets a hundredth of the time, and one thread never
        // gets more than all of it. The two clocks may differ a little.
        let possible = Duration::from_millis(2)..elapsed.mul_f64(1.1);
        assert!(possible.contains(&used), "{used:?} in {elapsed:?}");
    }

    #[test]
    fn page_faults_are_those_between_both_edges() {
        let memory = |faults| {
            Some(Memory {
                faults,
                ..Memory::default()
            })
        };
        let between = |before, after| {
            let readings = Readings {
                memory_before: memory(before),
                memory: memory(after),
                ..Readings::default()
            };
            readings.since_start(|memory| memory.faults)
        };
        assert_eq!(between(Some(100), Some(340)), Some(240));
        assert_eq!(between(Some(340), Some(100)), None);
        assert_eq!(between(None, Some(100)), None);
        assert_eq!(
            Readings::default().since_start(|memory| memory.faults),
            None
        );
    }

    #[test]
    fn a_process_that_is_gone_has_no_cpu_time() {
        let mut child = Command::new("/bin/true").spawn().unwrap();
        child.wait().unwrap();
        assert_eq!(
            cpu_nanoseconds(Pid::from_raw(i32::try_from(child.id()).unwrap())),
            None
        );
    }
}
