//! What the operator asks of `wasmbench-probe load`, given as JSON in the environment variable
//! [`REQUEST_ENV`]. It carries data only: no command line, no URL.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wasmbench_api::run::{ConnectionReuse, Expectation};

use crate::wire::action::ActionCall;

/// The environment variable that carries the request.
pub const REQUEST_ENV: &str = "WASMBENCH_REQUEST";

/// One trial to measure.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct LoadRequest {
    /// The subject's address.
    pub address: IpAddr,
    /// The subject's port.
    pub port: u16,
    /// Path and query of the request.
    pub path: String,
    /// What is called in place of `path`, where it is a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionCall>,
    /// What the answer must be.
    pub expect: Expectation,
    /// Whether some requests may fail: one that does after the load says nothing then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
    /// What the variant puts before every body by definition (`wasm:`); it must be there, and is
    /// taken off before the body is compared with `expect`. Empty for most.
    #[serde(default)]
    pub body_prefix: String,
    /// Uid of the subject's pod, by which its cgroups are found.
    pub pod_uid: String,
    /// Uid of the echo server's pod, where the workload has one: its work is the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upstream_uid: Option<String>,
    /// Connections that carry the load.
    pub connections: u32,
    /// Whether a connection carries many requests or one.
    pub connection_reuse: ConnectionReuse,
    /// How much load.
    pub load: Load,
    /// Seconds to wait for the first correct answer.
    pub ready_timeout_seconds: u32,
    /// Where the subject's resources are read.
    pub meter: MeterLevel,
    /// Whether a noisy window is measured once more.
    #[serde(default, skip_serializing_if = "NoiseRule::is_default")]
    pub noise: NoiseRule,
    /// Whether the load generator's own ceiling is measured first.
    #[serde(default)]
    pub calibrate_generator: bool,
    /// Where the subject tells its engine; absent for subjects that claim none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_path: Option<String>,
}

/// Requests of a window for which none were asked for: a p99 needs as many.
pub const DEFAULT_REQUESTS: u32 = 1000;
/// In a shorter window nobody can tell how noisy the node was.
pub const LEAST_SECONDS: u32 = 1;
/// The shortest warm-up of a window of requests, in milliseconds: the first tenths of a second are
/// often the slowest, and the histogram's buckets are chosen by its latencies.
pub const LEAST_WARMUP_MILLISECONDS: u32 = 500;
/// The longest window for which no number of requests was asked for.
pub const MOST_SECONDS: u32 = 10;

/// How much load, warm-up included.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Load {
    /// A number of requests: the warm-latency sweep.
    #[serde(rename_all = "camelCase")]
    Requests {
        /// Timed requests, or as many more as are answered in [`LEAST_SECONDS`]. `None`:
        /// [`DEFAULT_REQUESTS`], in [`MOST_SECONDS`] at most.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requests: Option<u32>,
        /// Discarded requests before them; unless 0, for [`LEAST_WARMUP_MILLISECONDS`] at least.
        warmup_requests: u32,
    },
    /// A time: the throughput sweep.
    #[serde(rename_all = "camelCase")]
    Duration {
        /// Seconds of the timed window.
        seconds: u32,
        /// Discarded seconds before it.
        warmup_seconds: u32,
    },
    /// A rate, whatever the answers do: the open-loop sweep.
    #[serde(rename_all = "camelCase")]
    OpenLoop {
        /// The rate in percent of what the subject answers when it is asked as fast as it answers.
        percent_of_peak: u32,
        /// Seconds for which that is measured first.
        peak_seconds: u32,
        /// Seconds of the timed window.
        seconds: u32,
        /// Discarded seconds before both.
        warmup_seconds: u32,
    },
}

/// Where the subject's resources are read; the administrator chooses it in the chart.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum MeterLevel {
    /// Nothing on the host may be read: no resources are reported.
    None,
    /// The node's cgroups, mounted read-only at [`CGROUP_MOUNT`].
    #[default]
    Cgroup,
}

/// What becomes of a trial during which the node was noisy; the administrator chooses it in the
/// chart.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseRule {
    /// It is measured once more, and the quieter of both windows counts.
    #[default]
    Repeat,
    /// It counts as it is.
    Note,
}

impl NoiseRule {
    /// Whether a noisy window is measured once more.
    pub fn repeats(self) -> bool {
        self == Self::Repeat
    }

    /// What is not written, because it is the rule without a word.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Where the probe finds the node's `/sys/fs/cgroup`.
pub const CGROUP_MOUNT: &str = "/host/sys/fs/cgroup";
/// Where the probe of cold starts finds containerd's socket.
pub const CONTAINERD_MOUNT: &str = "/host/containerd.sock";
/// Where the probe finds the node's `/proc`.
pub const PROC_MOUNT: &str = "/host/proc";
