//! Keeps threads on CPUs: the load generators of a duet, which are our children, and the subjects,
//! which are not. A thread of another process may be pinned by whoever runs as the same user and can
//! name it, which takes the node's process ids.

use std::fs;
use std::path::Path;

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use wasmbench_core::cpu_list::CpuList;

use crate::cpus;
use crate::meter::find;

/// New threads inherit the CPUs of the one that starts them, so that two rounds suffice unless a
/// thread starts others while it is looked at.
const ROUNDS: u32 = 20;

const REMEDY: &str = "give its pods CPUs of their own (the kubelet's cpuManagerPolicy static, and \
    spec.resources with whole CPUs, requests equal to limits), or set spec.pairing to Alternating";

/// Keeps the calling thread, and all that it starts from now on, on these CPUs.
pub fn own_thread(list: &CpuList) -> Result<(), String> {
    let refused =
        |error: Errno| format!("the load generator cannot be kept on CPUs {list}: {error}");
    let set = set_of(list).map_err(refused)?;
    sched_setaffinity(Pid::from_raw(0), &set).map_err(refused)
}

/// Keeps all processes of a pod on these CPUs; `proc` is the node's.
pub fn pod(proc: &Path, pod_uid: &str, list: &CpuList) -> Result<(), String> {
    if !names_processes_as_we_do(proc) {
        return Err(
            "the probe cannot name the node's processes: have duet.enabled set in the chart, which \
             gives it the node's process ids"
                .to_owned(),
        );
    }
    let set = set_of(list).map_err(|error| format!("CPUs {list}: {error}"))?;
    for _ in 0..ROUNDS {
        let elsewhere = threads_elsewhere(proc, pod_uid, list);
        if elsewhere.is_empty() {
            return check(proc, pod_uid, list);
        }
        for thread in elsewhere {
            match sched_setaffinity(thread.pid, &set) {
                // It ended in the meantime.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(refusal(&thread, list, error)),
            }
        }
    }
    Err(format!(
        "its threads do not stay on CPUs {list}, because it places them itself: have it leave them \
         alone, or set spec.pairing to Alternating"
    ))
}

/// Whether all threads of a pod may run on these CPUs only.
pub fn check(proc: &Path, pod_uid: &str, list: &CpuList) -> Result<(), String> {
    if cpus::processes_of_pod(proc, pod_uid).is_empty() {
        return Err("its processes cannot be seen".to_owned());
    }
    let elsewhere = threads_elsewhere(proc, pod_uid, list);
    elsewhere.first().map_or(Ok(()), |thread| {
        Err(format!(
            "thread {} ({}) may run on CPUs {} instead of {list}: {REMEDY}",
            thread.pid, thread.name, thread.allowed
        ))
    })
}

struct Thread {
    pid: Pid,
    name: String,
    user: String,
    allowed: String,
}

fn threads_elsewhere(proc: &Path, pod_uid: &str, list: &CpuList) -> Vec<Thread> {
    let processes = cpus::processes_of_pod(proc, pod_uid);
    let threads = processes
        .iter()
        .flat_map(|process| find::directories(&process.join("task")));
    let elsewhere = threads.filter_map(|thread| {
        let status = fs::read_to_string(thread.join("status")).ok()?;
        let allowed = cpus::field(&status, "Cpus_allowed_list:")?;
        let field = |key| cpus::field(&status, key).unwrap_or_default().to_owned();
        (CpuList::parse(allowed).as_ref() != Some(list)).then(|| Thread {
            pid: pid_of(&thread),
            name: field("Name:"),
            user: field("Uid:")
                .split_whitespace()
                .next()
                .unwrap_or_default()
                .to_owned(),
            allowed: allowed.to_owned(),
        })
    });
    elsewhere.filter(|thread| thread.pid.as_raw() > 0).collect()
}

fn pid_of(directory: &Path) -> Pid {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    Pid::from_raw(name.parse().unwrap_or_default())
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the kernel's errors: two of them have a remedy"
)]
fn refusal(thread: &Thread, list: &CpuList, error: Errno) -> String {
    let Thread {
        pid, name, user, ..
    } = thread;
    match error {
        Errno::EPERM => format!(
            "the kernel does not let the probe (user {}) pin process {pid} ({name}, user {user}): let \
             the container run as the probe's user, {REMEDY}",
            nix::unistd::getuid()
        ),
        Errno::EINVAL => {
            format!("process {pid} ({name}) may not run on any of the CPUs {list}: {REMEDY}")
        }
        other => format!("process {pid} ({name}) cannot be pinned to CPUs {list}: {other}"),
    }
}

/// Without the node's process ids a number names nothing here, or a stranger.
fn names_processes_as_we_do(proc: &Path) -> bool {
    let own = fs::canonicalize(proc.join("self")).unwrap_or_default();
    pid_of(&own) == Pid::this()
}

fn set_of(list: &CpuList) -> Result<CpuSet, Errno> {
    let mut set = CpuSet::new();
    for cpu in list.cpus() {
        set.set(usize::try_from(cpu).map_err(|_| Errno::EINVAL)?)?;
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::path::PathBuf;
    use std::process::{Child, Command};

    use super::*;

    const UID: &str = "0f3c0a52-7f9e-4f6e-9d0a-2b0f5a3f1c11";

    /// A `/proc` in which real processes belong to a pod.
    fn proc_of(children: &[&Child]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        symlink("/proc/self", root.path().join("self")).unwrap();
        for child in children {
            let real = PathBuf::from(format!("/proc/{}", child.id()));
            let process = root.path().join(child.id().to_string());
            fs::create_dir(&process).unwrap();
            fs::write(process.join("cgroup"), format!("0::/pod{UID}/a1\n")).unwrap();
            for name in ["status", "task"] {
                symlink(real.join(name), process.join(name)).unwrap();
            }
        }
        root
    }

    fn sleeper() -> Child {
        Command::new("/bin/sleep").arg("30").spawn().unwrap()
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    fn own_cpus() -> CpuList {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        CpuList::parse(cpus::field(&status, "Cpus_allowed_list:").unwrap()).unwrap()
    }

    #[test]
    fn all_processes_of_a_pod_are_kept_on_the_cpus_they_are_told() {
        let (one, other) = (sleeper(), sleeper());
        let proc = proc_of(&[&one, &other]);
        let last = CpuList::of_cpus(own_cpus().cpus().last());
        pod(proc.path(), UID, &last).unwrap();
        let read = cpus::read(proc.path(), UID).unwrap();
        assert_eq!(read.subject, Some(last.to_string()));
        assert_eq!(check(proc.path(), UID, &last), Ok(()));
        end(one);
        end(other);
    }

    #[test]
    fn a_pod_that_went_elsewhere_is_found_out() {
        let child = sleeper();
        let proc = proc_of(&[&child]);
        let elsewhere = check(proc.path(), UID, &CpuList::of_cpus([999])).unwrap_err();
        assert!(elsewhere.contains("instead of 999"), "{elsewhere}");
        end(child);
        let nobody = check(proc.path(), "another-pods-uid", &own_cpus());
        assert!(nobody.unwrap_err().contains("cannot be seen"));
    }

    #[test]
    fn cpus_that_do_not_exist_and_foreign_process_ids_are_refused_with_a_remedy() {
        let child = sleeper();
        let proc = proc_of(&[&child]);
        let missing = pod(proc.path(), UID, &CpuList::of_cpus([999])).unwrap_err();
        assert!(missing.contains("spec.pairing to Alternating"), "{missing}");
        fs::remove_file(proc.path().join("self")).unwrap();
        fs::create_dir(proc.path().join("1")).unwrap();
        symlink(proc.path().join("1"), proc.path().join("self")).unwrap();
        let foreign = pod(proc.path(), UID, &own_cpus()).unwrap_err();
        assert!(foreign.contains("duet.enabled"), "{foreign}");
        end(child);
    }

    #[test]
    fn a_refusal_of_the_kernel_names_user_and_remedy() {
        let thread = Thread {
            pid: Pid::from_raw(77),
            name: "server".into(),
            user: "1000".into(),
            allowed: "0-3".into(),
        };
        let text = refusal(&thread, &CpuList::of_cpus([2]), Errno::EPERM);
        assert!(text.contains("(server, user 1000)"), "{text}");
        assert!(text.contains("cpuManagerPolicy static"), "{text}");
    }

    #[test]
    fn what_a_pinned_thread_starts_stays_where_it_is() {
        let last = CpuList::of_cpus(own_cpus().cpus().last());
        let expected = last.to_string();
        let child = std::thread::spawn(move || {
            own_thread(&last).unwrap();
            sleeper()
        });
        let child = child.join().unwrap();
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        assert_eq!(
            cpus::field(&status, "Cpus_allowed_list:"),
            Some(expected.as_str())
        );
        end(child);
    }
}
