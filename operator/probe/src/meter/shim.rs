//! What runs for the pod but outside its cgroup: the container runtime's shim. It is found by its
//! command line, `containerd-shim-<runtime> ... -id <sandbox>`, whose id is also the name of one of
//! the pod's cgroups. CRI-O has a `conmon` of the same kind.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use wasmbench_core::wire::document::Outside;

/// Programs that stand outside a pod's cgroup and work for it.
const PROGRAMS: [&str; 2] = ["containerd-shim", "conmon"];
/// Shortest name of a cgroup that is taken for an id of a container.
const ID_LENGTH: usize = 64;

/// The processes, as directories of `/proc`.
#[derive(Debug, Default)]
pub struct Shims {
    processes: Vec<PathBuf>,
    sandbox: Option<OsString>,
}

impl Shims {
    /// Looks for the shims of the pod whose containers have their cgroups in `pod`.
    pub fn find(proc: &Path, pod: &Path) -> Self {
        let containers: Vec<(OsString, String)> = super::find::directories(pod)
            .iter()
            .filter_map(|directory| {
                let name = directory.file_name()?;
                Some((name.to_owned(), container_id(&name.to_string_lossy())?))
            })
            .collect();
        let ids: Vec<&str> = containers.iter().map(|(_, id)| id.as_str()).collect();
        let mut processes = super::find::directories(proc);
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

    /// Name of the cgroup of the pod's pause container, after which its shim is called.
    pub fn sandbox(&self) -> Option<&OsStr> {
        self.sandbox.as_deref()
    }

    /// CPU time so far and memory now; none without a process that can be read.
    pub fn read(&self) -> Option<Outside> {
        let read: Vec<Outside> = self.processes.iter().filter_map(|p| process(p)).collect();
        if read.is_empty() {
            return None;
        }
        Some(read.iter().fold(Outside::default(), |sum, one| Outside {
            processes: sum.processes + one.processes,
            cpu_nanoseconds: sum.cpu_nanoseconds + one.cpu_nanoseconds,
            resident_bytes: sum.resident_bytes + one.resident_bytes,
            anonymous_bytes: sum.anonymous_bytes + one.anonymous_bytes,
        }))
    }
}

/// What was used between two moments; memory is that of the end.
pub fn used(start: Outside, end: Outside) -> Outside {
    Outside {
        cpu_nanoseconds: end.cpu_nanoseconds.saturating_sub(start.cpu_nanoseconds),
        ..end
    }
}

/// `<id>` under the cgroupfs driver, `cri-containerd-<id>.scope` under the systemd driver.
fn container_id(name: &str) -> Option<String> {
    let name = name.strip_suffix(".scope").unwrap_or(name);
    let id = name.rsplit('-').next()?;
    let is_id = id.len() >= ID_LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

/// The argument after `-id`. `conmon` has none: it is one per container.
fn sandbox(process: &Path) -> Option<Vec<u8>> {
    let line = fs::read(process.join("cmdline")).ok()?;
    let mut arguments = line.split(|byte| *byte == 0);
    arguments.find(|argument| argument == b"-id")?;
    arguments.next().map(<[u8]>::to_vec)
}

fn serves(command_line: &[u8], ids: &[&str]) -> bool {
    let mut arguments = command_line.split(|byte| *byte == 0);
    let program = arguments.next().unwrap_or_default();
    let program = program
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default();
    let known = PROGRAMS
        .iter()
        .any(|name| program.starts_with(name.as_bytes()));
    known && arguments.any(|argument| ids.iter().any(|id| id.as_bytes() == argument))
}

fn process(directory: &Path) -> Option<Outside> {
    // The time of a thread that ended is lost; a shim keeps its threads.
    let cpu_nanoseconds = super::find::directories(&directory.join("task"))
        .iter()
        .filter_map(|task| scheduled(&fs::read_to_string(task.join("schedstat")).ok()?))
        .sum();
    let status = fs::read_to_string(directory.join("status")).ok()?;
    Some(Outside {
        processes: 1,
        cpu_nanoseconds,
        resident_bytes: kibibytes(&status, "VmRSS:")?,
        anonymous_bytes: kibibytes(&status, "RssAnon:")?,
    })
}

/// The first number of `schedstat`: time on a processor in nanoseconds, where `stat` counts
/// hundredths of a second.
fn scheduled(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().next()?.parse().ok()
}

pub(super) fn kibibytes(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    number.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(digit: char) -> String {
        digit.to_string().repeat(ID_LENGTH)
    }

    fn write(path: &Path, bytes: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// A shim with two threads.
    fn shim(proc: &Path, pid: u32, program: &str, sandbox: &str) {
        let process = proc.join(pid.to_string());
        let line =
            format!("{program}\0-namespace\0k8s.io\0-id\0{sandbox}\0-address\0/run/c.sock\0");
        write(&process.join("cmdline"), line.as_bytes());
        write(
            &process.join("status"),
            b"Name:\tshim\nVmRSS:\t   16972 kB\nRssAnon:\t    4572 kB\n",
        );
        write(&process.join("task/1/schedstat"), b"3000 5 6\n");
        write(&process.join("task/2/schedstat"), b"400 5 6\n");
    }

    #[test]
    fn the_shims_of_a_pod_are_found_by_the_ids_of_its_containers() {
        let root = tempfile::tempdir().unwrap();
        let (proc, pod) = (root.path().join("proc"), root.path().join("pod"));
        fs::create_dir_all(pod.join(format!("cri-containerd-{}.scope", id('a')))).unwrap();
        fs::create_dir_all(pod.join(id('b'))).unwrap();
        let program = "/usr/local/bin/containerd-shim-runc-v2";
        shim(&proc, 7, program, &id('b'));
        shim(&proc, 8, program, &id('c'));
        shim(&proc, 9, "/bin/sleep", &id('b'));
        let shims = Shims::find(&proc, &pod);
        assert_eq!(shims.sandbox(), Some(OsStr::new(&id('b'))));
        let found = shims.read().unwrap();
        assert_eq!(
            (found.processes, found.cpu_nanoseconds),
            (1, 3400),
            "{found:?}"
        );
        assert_eq!(found.resident_bytes, 16_972 * 1024);
        assert_eq!(found.anonymous_bytes, 4572 * 1024);
    }

    #[test]
    fn without_a_shim_nothing_is_read_and_nothing_guessed() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(Shims::find(root.path(), root.path()).read(), None);
    }

    #[test]
    fn time_is_that_of_the_window_and_memory_that_of_its_end() {
        let at = |cpu_nanoseconds, resident_bytes| Outside {
            processes: 1,
            cpu_nanoseconds,
            resident_bytes,
            anonymous_bytes: 0,
        };
        assert_eq!(used(at(10, 7), at(25, 9)), at(15, 9));
    }
}
