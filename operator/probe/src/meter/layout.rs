//! Which files hold the counters: one unified tree under cgroup v2; a tree per controller under
//! cgroup v1, where `cpu` and `cpuacct` may be one. In the hybrid layout a v2 tree without
//! controllers lies next to those of v1, so v1 is looked for first.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use wasmbench_model::wire::document::Pressure;

use super::counted::{Cpu, Memory, USER_HZ_NANOSECONDS};
use super::find;
use super::parse::{keyed, number, stalled};

/// Throttling by a CPU limit so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttling {
    /// Scheduler periods with throttling.
    pub periods: Option<u64>,
    /// Throttled time.
    pub nanoseconds: Option<u64>,
    /// Scheduler periods in which the group ran under its limit, throttled or not.
    pub limit_periods: Option<u64>,
}

/// The directories of one pod.
#[derive(Debug)]
pub enum Layout {
    /// A tree per controller.
    V1 {
        /// CPU time.
        cpuacct: PathBuf,
        /// CPU limits, if there is such a tree.
        cpu: Option<PathBuf>,
        /// Memory.
        memory: PathBuf,
    },
    /// One tree.
    V2 {
        /// Everything.
        pod: PathBuf,
    },
}

impl Layout {
    pub fn find(root: &Path, uid: &str) -> Option<Self> {
        Self::find_v1(root, uid).or_else(|| {
            let unified = [root.to_owned(), root.join("unified")];
            let root = unified.into_iter().find(|root| has_controllers(root))?;
            let pods = find::pod_directories(&root, uid);
            busiest(pods, v2_cpu).map(|pod| Self::V2 { pod })
        })
    }

    fn find_v1(root: &Path, uid: &str) -> Option<Self> {
        let tree = |names: &[&str]| {
            names
                .iter()
                .map(|name| root.join(name))
                .find(|tree| is_v1_tree(tree))
        };
        let accounts = tree(&["cpuacct", "cpu,cpuacct", "cpuacct,cpu"])?;
        let cpuacct = busiest(find::pod_directories(&accounts, uid), v1_cpu)?;
        let relative = cpuacct.strip_prefix(&accounts).ok()?;
        // Usually, the path is the same in every tree, but a container runtime inside a container
        // may put only some controllers under its own parent.
        let same = |tree: PathBuf| {
            let path = tree.join(relative);
            if path.is_dir() {
                return Some(path);
            }
            find::pod_directories(&tree, uid).into_iter().next()
        };
        let cpu = tree(&["cpu", "cpu,cpuacct", "cpuacct,cpu"]).and_then(same);
        let memory = tree(&["memory"]).and_then(same)?;
        Some(Self::V1 {
            cpuacct,
            cpu,
            memory,
        })
    }

    pub fn version(&self) -> u8 {
        match self {
            Self::V1 { .. } => 1,
            Self::V2 { .. } => 2,
        }
    }

    /// The pod's directory, which contains those of its containers.
    pub fn pod(&self) -> &Path {
        match self {
            Self::V1 { cpuacct: pod, .. } | Self::V2 { pod } => pod,
        }
    }

    pub fn cpu(&self) -> Option<Cpu> {
        match self {
            Self::V1 { cpuacct, .. } => pod_or_containers(cpuacct, v1_cpu, add_cpu),
            Self::V2 { pod } => pod_or_containers(pod, v2_cpu, add_cpu),
        }
    }

    pub fn memory(&self) -> Option<Memory> {
        match self {
            Self::V1 { memory, .. } => pod_or_containers(memory, v1_memory, add_memory),
            Self::V2 { pod } => pod_or_containers(pod, v2_memory, add_memory),
        }
    }

    /// CPU time and memory of one container of the pod, by the name of its cgroup.
    pub fn container(&self, name: &OsStr) -> Option<(Cpu, Memory)> {
        match self {
            Self::V1 {
                cpuacct, memory, ..
            } => v1_cpu(&cpuacct.join(name)).zip(v1_memory(&memory.join(name))),
            Self::V2 { pod } => v2_cpu(&pod.join(name)).zip(v2_memory(&pod.join(name))),
        }
    }

    /// Time for which the pod has waited so far; neither cgroup v1 nor a kernel started without PSI
    /// counts it.
    pub fn pressure(&self) -> Option<Pressure> {
        let Self::V2 { pod } = self else {
            return None;
        };
        let read = |file| stalled(&text(pod, file)?);
        let pressure = Pressure {
            cpu_nanoseconds: read("cpu.pressure"),
            memory_nanoseconds: read("memory.pressure"),
            io_nanoseconds: read("io.pressure"),
        };
        (pressure != Pressure::default()).then_some(pressure)
    }

    /// Throttling by the pod's own limit, and by its containers' limits together. Unlike CPU time,
    /// these counters do not include those of child cgroups.
    pub fn throttling(&self) -> [Throttling; 2] {
        let (pod, scale, key) = match self {
            Self::V1 { cpu: Some(cpu), .. } => (cpu, 1, "throttled_time"),
            Self::V2 { pod } => (pod, 1000, "throttled_usec"),
            Self::V1 { cpu: None, .. } => return [Throttling::default(); 2],
        };
        let read = |directory: &Path| {
            let stat = text(directory, "cpu.stat").unwrap_or_default();
            Throttling {
                periods: keyed(&stat, "nr_throttled"),
                nanoseconds: keyed(&stat, key).map(|time| time.saturating_mul(scale)),
                limit_periods: keyed(&stat, "nr_periods"),
            }
        };
        let add = |sum: Throttling, one: Throttling| Throttling {
            periods: add_some(sum.periods, one.periods),
            nanoseconds: add_some(sum.nanoseconds, one.nanoseconds),
            limit_periods: add_some(sum.limit_periods, one.limit_periods),
        };
        let containers = find::directories(pod)
            .iter()
            .map(|path| read(path))
            .reduce(add);
        [read(pod), containers.unwrap_or_default()]
    }
}

/// A v1 tree is a directory without v2's `cgroup.controllers`.
fn is_v1_tree(tree: &Path) -> bool {
    tree.is_dir() && !tree.join("cgroup.controllers").exists()
}

fn has_controllers(root: &Path) -> bool {
    text(root, "cgroup.controllers").is_some_and(|list| !list.trim().is_empty())
}

/// Returns, of several directories of one pod (a runtime may leave an empty one elsewhere), the one
/// whose processes have used most CPU time; the first of equals.
fn busiest(pods: Vec<PathBuf>, read: fn(&Path) -> Option<Cpu>) -> Option<PathBuf> {
    let used = |pod: &PathBuf| pod_or_containers(pod, read, add_cpu).map(|cpu| cpu.total);
    pods.into_iter()
        .rev()
        .filter(|pod| used(pod).is_some())
        .max_by_key(used)
}

/// The pod's own counters; without these, the sum of its containers' counters.
fn pod_or_containers<T>(pod: &Path, read: fn(&Path) -> Option<T>, add: fn(T, T) -> T) -> Option<T> {
    read(pod).or_else(|| {
        find::directories(pod)
            .iter()
            .filter_map(|one| read(one))
            .reduce(add)
    })
}

fn v1_cpu(directory: &Path) -> Option<Cpu> {
    let total = text(directory, "cpuacct.usage").and_then(|text| number(&text))?;
    let exact = |name| text(directory, name).and_then(|text| number(&text));
    let (user, system) = (exact("cpuacct.usage_user"), exact("cpuacct.usage_sys"));
    let stat = text(directory, "cpuacct.stat").unwrap_or_default();
    let coarse = |key| keyed(&stat, key).map(|ticks| ticks.saturating_mul(USER_HZ_NANOSECONDS));
    Some(Cpu {
        total,
        user: user.or_else(|| coarse("user")),
        system: system.or_else(|| coarse("system")),
    })
}

fn v2_cpu(directory: &Path) -> Option<Cpu> {
    let stat = text(directory, "cpu.stat")?;
    let nanoseconds = |key| keyed(&stat, key).map(|time| time.saturating_mul(1000));
    Some(Cpu {
        total: nanoseconds("usage_usec")?,
        user: nanoseconds("user_usec"),
        system: nanoseconds("system_usec"),
    })
}

fn v1_memory(directory: &Path) -> Option<Memory> {
    let bytes = text(directory, "memory.usage_in_bytes").and_then(|text| number(&text))?;
    let stat = text(directory, "memory.stat").unwrap_or_default();
    let peak = text(directory, "memory.max_usage_in_bytes").and_then(|text| number(&text));
    let kernel = text(directory, "memory.kmem.usage_in_bytes").and_then(|text| number(&text));
    let of_stat = ["total_rss", "total_cache"].map(|key| keyed(&stat, key));
    Some(Memory {
        bytes,
        inactive_file: keyed(&stat, "total_inactive_file"),
        in_use: sum(of_stat.into_iter().chain([kernel])),
        peak,
        faults: keyed(&stat, "total_pgfault"),
        // Those of a pod do not include its containers'.
        limit_hits: None,
        oom_kills: None,
    })
}

fn v2_memory(directory: &Path) -> Option<Memory> {
    let bytes = text(directory, "memory.current").and_then(|text| number(&text))?;
    let stat = text(directory, "memory.stat").unwrap_or_default();
    let peak = text(directory, "memory.peak").and_then(|text| number(&text));
    let events = text(directory, "memory.events").unwrap_or_default();
    Some(Memory {
        bytes,
        inactive_file: keyed(&stat, "inactive_file"),
        in_use: sum(["anon", "file", "kernel", "sock"].map(|key| keyed(&stat, key))),
        peak,
        faults: keyed(&stat, "pgfault"),
        limit_hits: keyed(&events, "max"),
        oom_kills: keyed(&events, "oom_kill"),
    })
}

fn text(directory: &Path, file: &str) -> Option<String> {
    fs::read_to_string(directory.join(file)).ok()
}

fn sum(parts: impl IntoIterator<Item = Option<u64>>) -> Option<u64> {
    parts.into_iter().reduce(add_some).flatten()
}

fn add_some(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    Some(a?.saturating_add(b?))
}

fn add_cpu(a: Cpu, b: Cpu) -> Cpu {
    Cpu {
        total: a.total.saturating_add(b.total),
        user: add_some(a.user, b.user),
        system: add_some(a.system, b.system),
    }
}

/// The peak of a sum is not the sum of the peaks, so it is left out.
fn add_memory(a: Memory, b: Memory) -> Memory {
    Memory {
        bytes: a.bytes.saturating_add(b.bytes),
        inactive_file: add_some(a.inactive_file, b.inactive_file),
        in_use: add_some(a.in_use, b.in_use),
        peak: None,
        faults: add_some(a.faults, b.faults),
        limit_hits: add_some(a.limit_hits, b.limit_hits),
        oom_kills: add_some(a.oom_kills, b.oom_kills),
    }
}
