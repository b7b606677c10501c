//! What only the individual processes of a pod report: their context switches. The pod's processes
//! are found through `/proc/<pid>/cgroup`, because `cgroup.procs` shows nothing to a reader in
//! another PID namespace.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use wasmbench_model::wire::document::Switches;

use super::find;

/// Above this number of threads, reading them would cost the node more than the result is worth.
const MAX_THREADS: usize = 512;

/// Context switches and CPU time of each thread so far, by thread id.
pub type Threads = BTreeMap<String, Switches>;

/// The processes of the pod with this cgroup, as directories of `proc`, except those of the
/// container `without`.
pub fn of_pod(proc: &Path, pod: &Path, without: Option<&OsStr>) -> Vec<PathBuf> {
    let Some(pod) = pod.file_name().and_then(OsStr::to_str) else {
        return Vec::new();
    };
    let mut processes = find::directories(proc);
    processes.retain(|process| {
        let cgroups = fs::read_to_string(process.join("cgroup")).unwrap_or_default();
        let container = container(&cgroups, pod);
        container.is_some_and(|name| without != Some(OsStr::new(name)))
    });
    processes
}

/// The name that follows `pod` in a line `hierarchy:controllers:path`; empty in the pod's own
/// cgroup.
fn container<'a>(cgroups: &'a str, pod: &str) -> Option<&'a str> {
    cgroups.lines().find_map(|line| {
        let path = line.splitn(3, ':').nth(2)?;
        let mut names = path.split('/');
        names.find(|name| *name == pod)?;
        Some(names.next().unwrap_or_default())
    })
}

/// The context switches of all threads; `None` if there are none, or too many to read.
pub fn threads(processes: &[PathBuf]) -> Option<Threads> {
    let mut threads = Threads::new();
    for process in processes {
        for task in find::directories(&process.join("task")) {
            let id = task.file_name().unwrap_or_default().to_string_lossy();
            // A thread that has ended meanwhile is skipped.
            if let Some(switches) = of_thread(&task) {
                threads.insert(id.into_owned(), switches);
            }
            if threads.len() > MAX_THREADS {
                return None;
            }
        }
    }
    (!threads.is_empty()).then_some(threads)
}

fn of_thread(task: &Path) -> Option<Switches> {
    let status = fs::read_to_string(task.join("status")).ok()?;
    let times = fs::read_to_string(task.join("schedstat")).ok()?;
    Some(Switches {
        voluntary: counted(&status, "voluntary_ctxt_switches:")?,
        involuntary: counted(&status, "nonvoluntary_ctxt_switches:")?,
        // Time on a CPU comes first, then that of waiting for one.
        cpu_nanoseconds: times.split(' ').next()?.parse().ok()?,
    })
}

fn counted(status: &str, key: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().parse().ok()
}

/// The switches between two moments. A thread that was not there at the start counts in full, and one
/// that is not there at the end is lost.
pub fn switches(start: &Threads, end: &Threads) -> Switches {
    let of_thread = |(id, end): (&String, &Switches)| {
        let start = start.get(id).copied().unwrap_or_default();
        // A smaller number is that of another thread with the same id.
        end.since(start).unwrap_or(*end)
    };
    let all = end.iter().map(of_thread);
    all.fold(Switches::default(), Switches::plus)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn process(proc: &Path, pid: u32, cgroup: &str) -> PathBuf {
        let process = proc.join(pid.to_string());
        write(
            &process.join("cgroup"),
            &format!("12:cpu,cpuacct:{cgroup}\n1:name=systemd:/x\n"),
        );
        process
    }

    /// Writes a thread that got a millisecond of a CPU for each switch.
    fn thread(process: &Path, tid: u32, voluntary: u64, involuntary: u64) {
        let task = process.join(format!("task/{tid}"));
        let text = format!(
            "Name:\tx\nvoluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t{involuntary}\n"
        );
        write(&task.join("status"), &text);
        let nanoseconds = (voluntary + involuntary) * 1_000_000;
        write(&task.join("schedstat"), &format!("{nanoseconds} 5 7\n"));
    }

    #[test]
    fn a_pods_processes_are_those_in_its_cgroup_without_pause() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path();
        process(proc, 1, "/");
        process(proc, 2, "/kubepods/podaaaa/pause");
        let server = process(proc, 3, "/../../podaaaa/server");
        process(proc, 4, "/kubepods/podaaaab/server");
        let found = of_pod(proc, Path::new("/x/podaaaa"), Some(OsStr::new("pause")));
        assert_eq!(found, [server]);
        assert_eq!(of_pod(proc, Path::new("/x/podaaaa"), None).len(), 2);
    }

    #[test]
    fn version_2_has_one_line_and_the_systemd_driver_longer_names() {
        let pod = "kubepods-pod0f3c.slice";
        let line = format!("0::/../{pod}/cri-containerd-ab.scope\n");
        assert_eq!(container(&line, pod), Some("cri-containerd-ab.scope"));
        assert_eq!(container(&line, "kubepods-pod0f3d.slice"), None);
    }

    #[test]
    fn switches_are_those_of_the_window_and_those_of_ended_threads_are_lost() {
        let root = tempfile::tempdir().unwrap();
        let server = process(root.path(), 1, "/");
        thread(&server, 1, 100, 10);
        thread(&server, 2, 50, 5);
        let start = threads(std::slice::from_ref(&server)).unwrap();
        thread(&server, 1, 130, 11);
        thread(&server, 3, 7, 2);
        fs::remove_dir_all(server.join("task/2")).unwrap();
        let end = threads(std::slice::from_ref(&server)).unwrap();
        let expected = Switches {
            voluntary: 37,
            involuntary: 3,
            cpu_nanoseconds: 40_000_000,
        };
        assert_eq!(switches(&start, &end), expected);
        assert_eq!(threads(&[root.path().join("none")]), None);
    }

    #[test]
    fn too_many_threads_are_not_counted() {
        let root = tempfile::tempdir().unwrap();
        let server = process(root.path(), 1, "/");
        for tid in 0..=u32::try_from(MAX_THREADS).unwrap() {
            thread(&server, tid, 1, 1);
        }
        assert_eq!(threads(&[server]), None);
    }
}
