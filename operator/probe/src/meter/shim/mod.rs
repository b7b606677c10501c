//! What runs for the pod but outside its cgroup: the container runtime's shim. It is found by its
//! command line, `containerd-shim-<runtime> ... -id <sandbox>`, whose id is also in the name of one
//! of the pod's cgroups. CRI-O's `conmon` is similar.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use wasmbench_model::wire::document::Outside;

use super::counted::USER_HZ_NANOSECONDS;
use super::find;

/// Programs that run outside a pod's cgroup and work for it.
const PROGRAMS: [&str; 2] = ["containerd-shim", "conmon"];
/// Shortest hexadecimal part of a cgroup's name that counts as a container id.
const ID_LENGTH: usize = 64;
/// The kernel truncates user and system time to ticks separately: over a window, their sum is off
/// by less than this.
const ROUNDING_NANOSECONDS: u64 = 2 * USER_HZ_NANOSECONDS;

/// The shims of one pod, as directories of `/proc`.
#[derive(Debug, Default)]
pub struct Shims {
    processes: Vec<PathBuf>,
    sandbox: Option<OsString>,
}

impl Shims {
    /// Looks for the shims of the pod whose containers have their cgroups in `pod`.
    pub fn find(proc: &Path, pod: &Path) -> Self {
        let containers: Vec<(OsString, String)> = find::directories(pod)
            .iter()
            .filter_map(|directory| {
                let name = directory.file_name()?;
                Some((name.to_owned(), container_id(&name.to_string_lossy())?))
            })
            .collect();
        let ids: Vec<&str> = containers.iter().map(|(_, id)| id.as_str()).collect();
        let mut processes = find::directories(proc);
        processes.retain(|process| {
            let line = fs::read(process.join("cmdline")).unwrap_or_default();
            serves(&line, &ids)
        });
        let sandboxes: Vec<Vec<u8>> = processes.iter().filter_map(|p| sandbox(p)).collect();
        let sandbox = containers
            .iter()
            .find(|(_, id)| sandboxes.iter().any(|one| one == id.as_bytes()))
            .map(|(name, _)| name.clone());
        Self { processes, sandbox }
    }

    /// Name of the cgroup of the pod's pause container, whose id is on the shim's command line.
    pub fn sandbox(&self) -> Option<&OsStr> {
        self.sandbox.as_deref()
    }

    /// CPU time so far and memory now; `None` if no process can be read.
    pub fn read(&self) -> Option<Reading> {
        let read = self.processes.iter().filter_map(|p| process(p));
        read.reduce(Reading::plus)
    }
}

/// What the kernel has counted for the processes so far, in nanoseconds, and their memory now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Its CPU time is the sum of `threads` and `children`.
    pub outside: Outside,
    /// Exact time of the living threads; `None` if the kernel does not report it.
    living: Option<u64>,
    /// Time of all threads, including those that ended, to the tick.
    threads: u64,
    /// Time of children that ended and were waited for, to the tick.
    children: u64,
}

impl Reading {
    fn plus(self, other: Self) -> Self {
        let (one, two) = (self.outside, other.outside);
        Self {
            outside: Outside {
                processes: one.processes + two.processes,
                cpu_nanoseconds: one.cpu_nanoseconds + two.cpu_nanoseconds,
                resident_bytes: one.resident_bytes + two.resident_bytes,
                anonymous_bytes: one.anonymous_bytes + two.anonymous_bytes,
            },
            living: self.living.zip(other.living).map(|(one, two)| one + two),
            threads: self.threads + other.threads,
            children: self.children + other.children,
        }
    }
}

/// What was used between two moments; memory is from the end. `None` if a process ended and took
/// its time with it, or if a counter went backwards and no other shows what was used.
pub fn used(start: Reading, end: Reading) -> Option<Outside> {
    let processes = end.outside.processes;
    if processes != start.outside.processes {
        return None;
    }
    let threads = end.threads.checked_sub(start.threads)?;
    let children = end.children.checked_sub(start.children)?;
    let living = start
        .living
        .zip(end.living)
        .and_then(|(start, end)| end.checked_sub(start));
    let rounding = ROUNDING_NANOSECONDS.saturating_mul(processes.into());
    // The exact counter misses threads that ended; the coarse one includes them and is then larger.
    let misses_none = |living: &u64| threads <= living.saturating_add(rounding);
    let own = match living.filter(misses_none) {
        Some(exact) => exact,
        None => Some(threads).filter(|coarse| *coarse > 0)?,
    };
    Some(Outside {
        cpu_nanoseconds: own.saturating_add(children),
        ..end.outside
    })
}

/// `<id>` under the cgroupfs driver, `cri-containerd-<id>.scope` under the systemd driver.
fn container_id(name: &str) -> Option<String> {
    let name = name.strip_suffix(".scope").unwrap_or(name);
    let id = name.rsplit('-').next()?;
    let is_id = id.len() >= ID_LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// The argument after `-id`. `conmon` has none: there is one per container.
fn sandbox(process: &Path) -> Option<Vec<u8>> {
    let line = fs::read(process.join("cmdline")).ok()?;
    let mut arguments = line.split(|byte| *byte == 0);
    arguments.find(|argument| argument == b"-id")?;
    arguments.next().map(<[u8]>::to_vec)
}

fn serves(command_line: &[u8], ids: &[&str]) -> bool {
    let mut arguments = command_line.split(|byte| *byte == 0);
    let program = arguments
        .next()
        .unwrap_or_default()
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default();
    let known = PROGRAMS
        .iter()
        .any(|name| program.starts_with(name.as_bytes()));
    known && arguments.any(|argument| ids.iter().any(|id| id.as_bytes() == argument))
}

fn process(directory: &Path) -> Option<Reading> {
    let living: Vec<u64> = find::directories(&directory.join("task"))
        .iter()
        .filter_map(|task| scheduled(&fs::read_to_string(task.join("schedstat")).ok()?))
        .collect();
    let text = |name: &str| fs::read_to_string(directory.join(name)).ok();
    let (stat, status) = (text("stat")?, text("status")?);
    let [user, system, children_user, children_system] = times(&stat)?;
    let threads = user.saturating_add(system);
    let children = children_user.saturating_add(children_system);
    Some(Reading {
        outside: Outside {
            processes: 1,
            cpu_nanoseconds: threads.saturating_add(children),
            resident_bytes: kibibytes(&status, "VmRSS:")?,
            anonymous_bytes: kibibytes(&status, "RssAnon:")?,
        },
        living: (!living.is_empty()).then(|| living.iter().sum()),
        threads,
        children,
    })
}

/// The first number of `schedstat`: CPU time in nanoseconds, whereas `stat` counts hundredths of a
/// second.
fn scheduled(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().next()?.parse().ok()
}

/// User and system time of the process, then of its children that ended: fields 14 to 17 of `stat`,
/// in nanoseconds. The name in the second field is in parentheses and may contain anything.
pub(super) fn times(stat: &str) -> Option<[u64; 4]> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut times = fields.split_ascii_whitespace().skip(11).map(|field| {
        let ticks: u64 = field.parse().ok()?;
        Some(ticks.saturating_mul(USER_HZ_NANOSECONDS))
    });
    let mut next = || times.next().flatten();
    Some([next()?, next()?, next()?, next()?])
}

/// Name and parent of the process: fields 2 and 4 of `stat`.
pub(super) fn name_and_parent(stat: &str) -> Option<(&str, &str)> {
    let (before, fields) = stat.rsplit_once(')')?;
    let (_, name) = before.split_once('(')?;
    Some((name, fields.split_ascii_whitespace().nth(1)?))
}

pub(super) fn kibibytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    number.checked_mul(1024)
}

#[cfg(test)]
mod tests;
