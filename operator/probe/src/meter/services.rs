//! The node's services that carry what a pod writes to its log: a line for each request keeps them
//! busy, and their CPU time is then a cost of the pod, outside its cgroup. They do other work, too,
//! so what they use without the load is read after it, where they used much.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use wasmbench_model::wire::document::NodeServices;

use super::{find, shim};
use crate::output::progress;

/// The container runtimes of Kubernetes, the kubelet, and journald, as far as the kernel keeps
/// their names.
const NAMES: [&str; 5] = [
    "containerd",
    "crio",
    "dockerd",
    "kubelet",
    "systemd-journal",
];
/// Ancestors of what runs in a pod: a containerd inside a pod is no service of the node.
const PARENTS_OF_PODS: [&str; 2] = ["containerd-shim", "conmon"];
/// Deeper than any tree of services.
const MOST_PARENTS: usize = 16;
/// Services that used at least this many CPUs are also read without the load: a third of what makes a
/// window noisy on two CPUs. Less can hide no neighbour and is not worth the time in every trial.
const LEAST_CPUS: f64 = 0.1;
/// Time for the services to work off what the load left in pipes.
const SETTLING: Duration = Duration::from_millis(200);
/// Time for which they are then observed: a tick of each is a hundredth of it.
const IDLE: Duration = Duration::from_secs(1);

/// The services of one node, as directories of `/proc`.
#[derive(Debug, Default)]
pub struct Services {
    processes: Vec<PathBuf>,
}

impl Services {
    /// Looks for the services. This looks at all processes of the node, so it must not run within a
    /// window.
    pub fn find(proc: &Path) -> Self {
        let mut processes = find::directories(proc);
        processes.retain(|process| {
            let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
            let name = shim::name_and_parent(&stat).map(|(name, _)| name);
            name.is_some_and(|name| NAMES.contains(&name)) && !is_in_a_pod(proc, &stat)
        });
        Self { processes }
    }

    /// CPU time so far, in nanoseconds; `None` if there are none, or if one ended and took its time
    /// with it.
    pub fn cpu_nanoseconds(&self) -> Option<u64> {
        let of_each = self.processes.iter().map(|process| {
            let stat = fs::read_to_string(process.join("stat")).ok()?;
            let [user, system, ..] = shim::times(&stat)?;
            Some(user.saturating_add(system))
        });
        let times: Option<Vec<u64>> = of_each.collect();
        let known = times.filter(|times| !times.is_empty())?;
        Some(known.into_iter().fold(0, u64::saturating_add))
    }

    /// Adds to what they `used` in a window of this length what they use without the load, where
    /// that matters. The load must have ended. Takes more than a second.
    pub fn observe_idle(&self, used: &mut NodeServices, window: Duration) {
        if used.cpu_nanoseconds as f64 >= LEAST_CPUS * window.as_nanos() as f64 {
            sleep(SETTLING);
            let rate = self.rate_over(IDLE);
            used.idle_cpu_nanoseconds = rate.map(|rate| in_window(rate, window));
            progress(&format!(
                "containerd and kubelet: {} ms in the window, {} ms without the load",
                used.cpu_nanoseconds / 1_000_000,
                used.idle_cpu_nanoseconds.unwrap_or_default() / 1_000_000
            ));
        }
    }

    /// CPUs that they use on average over this time, from now on.
    fn rate_over(&self, time: Duration) -> Option<f64> {
        let (before, began) = (self.cpu_nanoseconds()?, Instant::now());
        sleep(time);
        let used = self.cpu_nanoseconds()?.checked_sub(before)?;
        Some(used as f64 / began.elapsed().as_nanos() as f64)
    }
}

fn in_window(cpus: f64, window: Duration) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "CPU time is positive, and the cast saturates"
    )]
    let nanoseconds = (cpus * window.as_nanos() as f64) as u64;
    nanoseconds
}

/// Whether a process with this `stat` runs in a pod, by those above it.
fn is_in_a_pod(proc: &Path, stat: &str) -> bool {
    let mut stat = stat.to_owned();
    for _ in 0..MOST_PARENTS {
        let Some((name, parent)) = shim::name_and_parent(&stat) else {
            return false;
        };
        if PARENTS_OF_PODS.contains(&name) {
            return true;
        }
        stat = fs::read_to_string(proc.join(parent).join("stat")).unwrap_or_default();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    fn process(proc: &Path, pid: u32, (name, parent): (&str, u32), ticks: u64) {
        let directory = proc.join(pid.to_string());
        fs::create_dir_all(&directory).unwrap();
        let stat =
            format!("{pid} ({name}) S {parent} 1 1 0 -1 4194560 9 9 0 0 {ticks} 2 700 70 20 0 1");
        fs::write(directory.join("stat"), stat).unwrap();
    }

    #[test]
    fn the_nodes_services_are_found_by_name_and_those_of_pods_are_left_out() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path();
        process(proc, 1, ("systemd", 0), 9);
        process(proc, 20, ("containerd", 1), 30);
        process(proc, 21, ("kubelet", 1), 60);
        process(proc, 30, ("containerd-shim", 1), 500);
        process(proc, 31, ("sh", 30), 500);
        process(proc, 32, ("containerd", 31), 500);
        process(proc, 33, ("a (b) kubelet", 1), 500);
        let services = Services::find(proc);
        let ticks = 30 + 2 + 60 + 2;
        assert_eq!(services.cpu_nanoseconds(), Some(ticks * 10_000_000));
        // One that ended took its time with it.
        fs::remove_dir_all(proc.join("21")).unwrap();
        assert_eq!(services.cpu_nanoseconds(), None);
        assert_eq!(Services::default().cpu_nanoseconds(), None);
    }

    #[test]
    fn idle_use_is_read_only_for_services_that_used_much() {
        let root = tempfile::tempdir().unwrap();
        process(root.path(), 20, ("containerd", 1), 30);
        let services = Services::find(root.path());
        let observed = |cpu_nanoseconds| {
            let mut used = NodeServices {
                cpu_nanoseconds,
                idle_cpu_nanoseconds: None,
            };
            services.observe_idle(&mut used, Duration::from_secs(2));
            (used.idle_cpu_nanoseconds, used.log_nanoseconds())
        };
        assert_eq!(observed(SECOND / 10), (None, 0));
        assert_eq!(observed(SECOND), (Some(0), SECOND));
    }

    #[test]
    fn the_idle_use_of_a_busy_service_is_scaled_to_the_window() {
        let root = tempfile::tempdir().unwrap();
        let proc = root.path().to_owned();
        process(&proc, 20, ("containerd", 1), 0);
        let services = Services::find(&proc);
        let busy = std::thread::spawn(move || {
            sleep(Duration::from_millis(20));
            process(&proc, 20, ("containerd", 1), 100);
        });
        let rate = services.rate_over(Duration::from_millis(300)).unwrap();
        busy.join().unwrap();
        // A second of CPU time in 300 ms or, on a crowded machine, in somewhat longer.
        assert!(rate > 0.0 && rate <= 1.0 / 0.3, "{rate}");
        assert_eq!(in_window(0.25, Duration::from_secs(2)), SECOND / 2);
    }
}
