//! The resources of the subject's pod, from the cumulative counters of its cgroup: these miss
//! nothing, however short-lived a child process is. [`shim`] reads what the container runtime uses
//! for the pod outside its cgroup, [`services`] what those services of the node use that carry its
//! log. Files are only read, as any user may do.
//!
//! [`counted`] is what they count, [`layout`] determines where the counters are under cgroup v1 and v2, [`find`] finds the pod,
//! [`parse`] parses the files.

mod counted;
pub mod find;
pub mod layout;
mod parse;
mod processes;
mod services;
mod shim;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use counted::{Cpu, Memory, USER_HZ_NANOSECONDS};
use layout::{Layout, Throttling};
pub use parse::stalled;
pub use processes::Threads;
use services::Services;
use shim::Shims;
use wasmbench_model::wire::document::{
    Meter, NodeServices, Outside, Pause, Pressure, Processes, TimedWindow,
};

/// Why no resources are read where the administrator does not want them to be.
pub const NO_METER: &str = "meter.level is none in the chart's values";

/// The counters of one pod.
#[derive(Debug)]
pub struct PodMeter {
    layout: Layout,
    shims: Shims,
    services: Services,
    proc: PathBuf,
}

/// Counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counters {
    cpu: Cpu,
    /// By the pod's own limit and, added up, by its containers' limits.
    throttling: [Throttling; 2],
    pause: Option<(Cpu, Memory)>,
    pressure: Option<Pressure>,
    outside: Option<shim::Reading>,
    services: Option<u64>,
}

impl PodMeter {
    /// Finds the pod; `None` if the mount is missing, is of another kind, or has no such pod.
    pub fn find(root: &Path, proc: &Path, pod_uid: &str) -> Option<Self> {
        let layout = Layout::find(root, pod_uid)?;
        let shims = Shims::find(proc, layout.pod());
        let proc = proc.to_owned();
        Some(Self {
            layout,
            shims,
            services: Services::find(&proc),
            proc,
        })
    }

    /// Where the counters are, as text for people.
    pub fn place(&self) -> String {
        self.layout.pod().display().to_string()
    }

    /// Reads the counters. CPU time comes first, because it is what changes with every request.
    pub fn counters(&self) -> Option<Counters> {
        let cpu = self.layout.cpu()?;
        Some(Counters {
            cpu,
            throttling: self.layout.throttling(),
            pause: self
                .shims
                .sandbox()
                .and_then(|name| self.layout.container(name)),
            pressure: self.layout.pressure(),
            outside: self.shims.read(),
            services: self.services.cpu_nanoseconds(),
        })
    }

    /// CPU time of the pod so far, in nanoseconds.
    pub fn cpu_nanoseconds(&self) -> Option<u64> {
        Some(self.layout.cpu()?.total)
    }

    /// The cgroups of the containers with these ids, by their names. The name of a cgroup holds the id, whichever
    /// driver has made it.
    pub fn containers(&self, ids: &BTreeMap<String, String>) -> Vec<(String, OsString)> {
        let directories = find::directories(self.layout.pod());
        let found = ids.iter().filter_map(|(name, id)| {
            let mut cgroups = directories.iter().filter_map(|path| path.file_name());
            let is_its = |cgroup: &&OsStr| !id.is_empty() && cgroup.to_string_lossy().contains(id);
            Some((name.clone(), cgroups.find(is_its)?.to_owned()))
        });
        found.collect()
    }

    /// CPU time so far of the container with this cgroup, in nanoseconds.
    pub fn container_nanoseconds(&self, cgroup: &OsStr) -> Option<u64> {
        let (cpu, _) = self.layout.container(cgroup)?;
        Some(cpu.total)
    }

    /// The processes of the pod's containers except pause, as directories of `/proc`. This looks at
    /// all processes of the node, so it must not run within a window.
    pub fn processes(&self) -> Vec<PathBuf> {
        processes::of_pod(&self.proc, self.layout.pod(), self.shims.sandbox())
    }

    /// What runs for the pod outside its cgroup, as of now.
    pub fn outside(&self) -> Option<Outside> {
        Some(self.shims.read()?.outside)
    }

    /// Adds what the node's services use without the load, where they used much in `window`, which
    /// has just ended. This may take more than a second.
    pub fn observe_idle_services(&self, window: &mut TimedWindow) {
        let length = Duration::from_nanos(window.duration_nanoseconds);
        let services = window.subject.as_mut().and_then(|m| m.services.as_mut());
        if let Some(used) = services {
            self.services.observe_idle(used, length);
        }
    }

    /// The context switches of these processes so far.
    pub fn threads(processes: &[PathBuf]) -> Option<Threads> {
        processes::threads(processes)
    }

    /// What the pod's processes report at the end of a window that began with `before`. `None` if
    /// no process of the pod is visible.
    pub fn processes_since(&self, before: Option<&Threads>) -> Option<Processes> {
        let found = self.processes();
        let after = processes::threads(&found);
        let switches = before.zip(after.as_ref());
        (!found.is_empty()).then(|| Processes {
            count: u32::try_from(found.len()).unwrap_or(u32::MAX),
            switches: switches.map(|(before, after)| processes::switches(before, after)),
        })
    }

    /// Reads the memory.
    pub fn memory(&self) -> Option<Memory> {
        self.layout.memory()
    }

    /// What was used between two moments; `memory` is from the end.
    pub fn used(&self, start: &Counters, end: &Counters, memory: Memory) -> Meter {
        let since = |from: u64, to: u64| to.saturating_sub(from);
        let since_both = |from: Option<u64>, to: Option<u64>| Some(since(from?, to?));
        let throttled = |value: fn(&Throttling) -> Option<u64>| {
            // A lone container and its pod have the same limit, and either may throttle it: the
            // larger count is right, whereas the sum would count one stop twice.
            let levels = start.throttling.iter().zip(&end.throttling);
            levels
                .filter_map(|(from, to)| since_both(value(from), value(to)))
                .max()
        };
        Meter {
            cgroup_version: self.layout.version(),
            cpu_nanoseconds: since(start.cpu.total, end.cpu.total),
            cpu_user_nanoseconds: since_both(start.cpu.user, end.cpu.user),
            cpu_system_nanoseconds: since_both(start.cpu.system, end.cpu.system),
            memory_bytes: memory.bytes,
            memory_working_set_bytes: memory.working_set(),
            memory_working_set_start_bytes: None,
            memory_held_bytes: memory.held(),
            memory_peak_bytes: memory.peak,
            page_faults: None,
            throttled_periods: throttled(|level| level.periods),
            throttled_nanoseconds: throttled(|level| level.nanoseconds),
            limit_periods: throttled(|level| level.limit_periods),
            memory_limit_hits: None,
            oom_kills: None,
            pause: start.pause.zip(end.pause).map(|(start, end)| Pause {
                cpu_nanoseconds: since(start.0.total, end.0.total),
                memory_bytes: end.1.bytes,
            }),
            processes: None,
            pressure: start
                .pressure
                .zip(end.pressure)
                .map(|(start, end)| Pressure {
                    cpu_nanoseconds: since_both(start.cpu_nanoseconds, end.cpu_nanoseconds),
                    memory_nanoseconds: since_both(
                        start.memory_nanoseconds,
                        end.memory_nanoseconds,
                    ),
                    io_nanoseconds: since_both(start.io_nanoseconds, end.io_nanoseconds),
                }),
            outside: start
                .outside
                .zip(end.outside)
                .and_then(|(start, end)| shim::used(start, end)),
            services: since_both(start.services, end.services).map(|cpu_nanoseconds| {
                NodeServices {
                    cpu_nanoseconds,
                    idle_cpu_nanoseconds: None,
                }
            }),
        }
    }
}

#[cfg(test)]
mod tests;
