//! A pod's cgroup as a kubelet would make it, for a process of the test. Needs root.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLockWriteGuard};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use super::{Run, run};

const ROOT: &str = "/sys/fs/cgroup";

/// Set if no test can make a cgroup.
const NO_CGROUPS: &str = "WASMBENCH_NO_CGROUPS";

/// Reserves the CPUs for one test. `None` if the variable declares that the machine has no cgroups;
/// if they are missing without that, the test fails.
pub fn turn() -> Option<RwLockWriteGuard<'static, ()>> {
    if super::is_left_out(NO_CGROUPS, "root or cgroups") {
        return None;
    }
    let remedy = format!("set {NO_CGROUPS}=1 to leave this test out");
    assert!(
        nix::unistd::geteuid().is_root(),
        "only root may make the cgroup that this test reads; {remedy}"
    );
    let turn = super::CPUS.write().unwrap_or_else(PoisonError::into_inner);
    let made = Pod::create(0).map(drop);
    made.unwrap_or_else(|error| panic!("no cgroup can be made below {ROOT}: {error}; {remedy}"));
    Some(turn)
}

/// Runs the probe in a test that holds its [`turn`].
pub fn probe(request: &Value) -> Run {
    run(request, &[("WASMBENCH_CGROUP_ROOT", ROOT)])
}

/// Directories of a pod with one container; removed when dropped.
pub struct Pod {
    pub uid: String,
    containers: Vec<PathBuf>,
}

impl Pod {
    /// Makes the directories: one under cgroup v2, one per controller under v1.
    pub fn create(number: u32) -> io::Result<Self> {
        let uid = format!(
            "0f3c0a52-7f9e-4f6e-9d0a-{number:04x}{:08x}",
            std::process::id()
        );
        let container = |tree: PathBuf| {
            tree.join(format!(
                "wasmbench-test-{number}-{}/pod{uid}/server",
                std::process::id()
            ))
        };
        let is_v2 = Path::new(ROOT).join("cgroup.controllers").exists();
        let containers = if is_v2 {
            vec![container(ROOT.into())]
        } else {
            let own = fs::read_to_string("/proc/self/cgroup")?;
            let trees = own.lines().filter_map(tree_of_v1);
            trees.map(container).collect()
        };
        // Made first, so that its directories are removed even after a failure halfway.
        let pod = Self { uid, containers };
        for directory in &pod.containers {
            if is_v2 {
                pass_memory_on(directory)?;
            }
            fs::create_dir_all(directory)?;
        }
        Ok(pod)
    }

    /// Moves a process into the container.
    pub fn add(&self, pid: u32) {
        for directory in &self.containers {
            fs::write(directory.join("cgroup.procs"), pid.to_string()).unwrap();
        }
    }
}

/// Makes every cgroup above the container's. Under cgroup v2, each of them has to pass the memory
/// controller on, or the container's cgroup lacks its counters.
fn pass_memory_on(container: &Path) -> io::Result<()> {
    let above = container.ancestors().skip(1);
    let above: Vec<&Path> = above.take_while(|level| level.starts_with(ROOT)).collect();
    for level in above.into_iter().rev() {
        fs::create_dir_all(level)?;
        fs::write(level.join("cgroup.subtree_control"), "+memory")?;
    }
    Ok(())
}

/// The test's own cgroup in a v1 tree: below it, the pod stays within the test's memory limit.
fn tree_of_v1(line: &str) -> Option<PathBuf> {
    let mut parts = line.splitn(3, ':').skip(1);
    let (controllers, path) = (parts.next()?, parts.next()?);
    let wanted = controllers
        .split(',')
        .any(|one| ["cpuacct", "cpu", "memory"].contains(&one));
    wanted.then(|| {
        Path::new(ROOT)
            .join(controllers)
            .join(path.trim_start_matches('/'))
    })
}

impl Drop for Pod {
    fn drop(&mut self) {
        for directory in &self.containers {
            for level in directory.ancestors().take(3) {
                // A cgroup stays busy for a moment after its last process is gone.
                for _ in 0..100 {
                    if fs::remove_dir(level).is_ok() || !level.exists() {
                        break;
                    }
                    sleep(Duration::from_millis(10));
                }
            }
        }
    }
}
