//! Where the probe finds what it needs. The defaults match its image and the mounts that the
//! operator gives it; all but `sys` can be set from the environment, for tests and for manual use.

use std::env;
use std::path::PathBuf;

use wasmbench_model::wire::request::{CGROUP_MOUNT, CONTAINERD_MOUNT, PROC_MOUNT, REQUEST_ENV};
use wasmbench_model::wire::sent::BODIES_MOUNT;

/// Path of the load generator in the probe's image.
const GENERATOR: &str = "/generator";
/// Path of the functions' code in the probe's image.
const ACTIONS: &str = "/actions";

/// Paths the probe works with.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The load generator.
    pub generator: PathBuf,
    /// The code of functions.
    pub actions: PathBuf,
    /// Bodies that come from a `ConfigMap`.
    pub bodies: PathBuf,
    /// The node's `/sys/fs/cgroup`.
    pub cgroup: PathBuf,
    /// The node's `/proc`.
    pub proc: PathBuf,
    /// containerd's socket.
    pub containerd: PathBuf,
    /// `/sys` of the probe's own container; apart from its cgroup, nothing read there is
    /// namespaced.
    pub sys: PathBuf,
}

impl Settings {
    /// Defaults, unless the environment overrides them.
    pub fn from_environment() -> Self {
        let path = |name: &str, default: &str| {
            env::var_os(name).map_or_else(|| PathBuf::from(default), PathBuf::from)
        };
        let mut proc = path("WASMBENCH_PROC_ROOT", PROC_MOUNT);
        if !proc.join("cpuinfo").exists() {
            // Without host access, the container's own view shows the same kernel and CPU.
            proc = PathBuf::from("/proc");
        }
        Self {
            generator: path("WASMBENCH_GENERATOR", GENERATOR),
            actions: path("WASMBENCH_ACTIONS", ACTIONS),
            bodies: path("WASMBENCH_BODIES", BODIES_MOUNT),
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
