//! A pod's cgroup as a kubelet would make it, for a process of the test. Needs root.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

const ROOT: &str = "/sys/fs/cgroup";

/// Directories of a pod with one container; removed when dropped.
pub struct Pod {
    pub uid: String,
    containers: Vec<PathBuf>,
}

impl Pod {
    /// Makes them: one under cgroup v2, one per controller under v1.
    pub fn create(number: u32) -> std::io::Result<Self> {
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
        let containers = if Path::new(ROOT).join("cgroup.controllers").exists() {
            vec![container(ROOT.into())]
        } else {
            let own = fs::read_to_string("/proc/self/cgroup")?;
            let trees = own.lines().filter_map(tree_of_v1);
            trees.map(container).collect()
        };
        for directory in &containers {
            fs::create_dir_all(directory)?;
        }
        Ok(Self { uid, containers })
    }

    /// Moves a process into the container.
    pub fn add(&self, pid: u32) {
        for directory in &self.containers {
            fs::write(directory.join("cgroup.procs"), pid.to_string()).unwrap();
        }
    }
}

/// Below the cgroup that the test itself is in, so that it stays within its memory limit.
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
