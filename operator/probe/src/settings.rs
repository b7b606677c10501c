//! Where the probe finds what it needs. The defaults are those of its image and of the mounts that
//! the operator gives it; each can be set from the environment, for tests and for use by hand.

use std::env;
use std::path::PathBuf;

use wasmbench_core::wire::request::{CGROUP_MOUNT, CONTAINERD_MOUNT, PROC_MOUNT, REQUEST_ENV};

/// Where fortio lies in the probe's image.
const FORTIO: &str = "/fortio";
/// Where the code of functions lies there.
const ACTIONS: &str = "/actions";

/// Paths the probe works with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// fortio's binary.
    pub fortio: PathBuf,
    /// The code of functions.
    pub actions: PathBuf,
    /// The node's `/sys/fs/cgroup`.
    pub cgroup: PathBuf,
    /// The node's `/proc`.
    pub proc: PathBuf,
    /// containerd's socket.
    pub containerd: PathBuf,
    /// `/sys` of any container: what is read there is not namespaced.
    pub sys: PathBuf,
}

impl Settings {
    /// Defaults, unless the environment says otherwise.
    pub fn from_environment() -> Self {
        let path = |name: &str, default: &str| {
            env::var_os(name).map_or_else(|| PathBuf::from(default), PathBuf::from)
        };
        let mut proc = path("WASMBENCH_PROC_ROOT", PROC_MOUNT);
        if !proc.join("cpuinfo").exists() {
            // Without host access the container's own view has the same kernel and processor.
            proc = PathBuf::from("/proc");
        }
        Self {
            fortio: path("WASMBENCH_FORTIO", FORTIO),
            actions: path("WASMBENCH_ACTIONS", ACTIONS),
            cgroup: path("WASMBENCH_CGROUP_ROOT", CGROUP_MOUNT),
            containerd: path("WASMBENCH_CONTAINERD_SOCKET", CONTAINERD_MOUNT),
            proc,
            sys: PathBuf::from("/sys"),
        }
    }
}

/// The request as JSON text, if there is one.
pub fn request() -> Option<String> {
    env::var(REQUEST_ENV).ok()
}
