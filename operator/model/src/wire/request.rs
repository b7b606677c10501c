//! What the operator requests of `wasmbench-probe load`, given as JSON in the environment variable
//! [`REQUEST_ENV`]. It carries data only: no command line, no URL.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use wasmbench_api::run::{ConnectionReuse, Expectation, Ready, Scheme};

use crate::wire::action::ActionCall;
use crate::wire::sent::{MixPart, Sent};

/// The environment variable that carries the request.
pub const REQUEST_ENV: &str = "WASMBENCH_REQUEST";

/// One trial to measure.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct LoadRequest {
    /// The subject's address.
    pub address: IpAddr,
    /// The subject's port.
    pub port: u16,
    /// How the subject is spoken to there; `HTTP` is not written.
    #[serde(default, skip_serializing_if = "Scheme::is_http")]
    pub scheme: Scheme,
    /// What is sent.
    #[serde(flatten)]
    pub sent: Sent,
    /// All requests of a mix, of which `sent` is the first; empty if there is one request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<MixPart>,
    /// The function that is called instead of `path`; absent for a service.
    pub action: Option<ActionCall>,
    /// The request that shows that the subject is ready; absent: what is sent does.
    pub ready: Option<Ready>,
    /// What the answer must be.
    pub expect: Expectation,
    /// Whether some requests may fail: if so, a failed request after the load means nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
    /// Prefix that the variant by definition puts before every body (`wasm:`); it must be there,
    /// and is removed before the body is compared with `expect`. Empty for most.
    #[serde(default)]
    pub body_prefix: String,
    /// Uid of the subject's pod, by which its cgroups are found.
    pub pod_uid: String,
    /// Uid of the echo server's pod, if the workload has one: its CPU time counts as the run's own.
    pub upstream_uid: Option<String>,
    /// Ids of the containers of a pod that somebody else has made, by their names; empty for a pod of ours,
    /// which has one.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub containers: BTreeMap<String, String>,
    /// Uids of the pods that belong to the experiment without being measured; absent if the run names none.
    pub companion_uids: Option<Vec<String>>,
    /// Connections that carry the load.
    pub connections: u32,
    /// Whether a connection carries many requests or one.
    pub connection_reuse: ConnectionReuse,
    /// How much load; with a `ladder`, that of all rungs together, for as long as it may take.
    pub load: Load,
    /// The ladder of rates to climb; absent for a load of one window.
    pub ladder: Option<Ladder>,
    /// The bodies to send instead of the workload's request; absent for a load of one window. `load` is then
    /// that of all sizes together.
    pub payload: Option<Payload>,
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
    /// Path at which the subject describes its engine; absent for subjects that claim none.
    pub engine_path: Option<String>,
    /// Whether it adds up there what its instances cost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_instances: bool,
}

/// How long a request may take. Long enough for an interpreter behind a full accept queue, short
/// enough that a dead subject does not hold the node for long.
pub const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// Fewest requests of a window of requests: a p50 needs this many.
pub const FEWEST_REQUESTS: u32 = 20;
/// Requests of a window for which the spec sets no number: a p99 needs this many.
pub const DEFAULT_REQUESTS: u32 = 1000;
/// The shortest window of requests, in seconds: a shorter one does not show how noisy the node was.
pub const LEAST_SECONDS: u32 = 1;
/// The shortest warm-up of a window of requests, in milliseconds: the first tenths of a second are
/// often the slowest, and the histogram's buckets are chosen from the warm-up's latencies.
pub const LEAST_WARMUP_MILLISECONDS: u32 = 500;
/// The longest window, in seconds, for which the spec sets no number of requests.
pub const MOST_SECONDS: u32 = 10;

/// How much load, warm-up included.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Load {
    /// A number of requests: the warm-latency sweep.
    #[serde(rename_all = "camelCase")]
    Requests {
        /// Timed requests; more if they are answered in less than [`LEAST_SECONDS`]. `None`:
        /// [`DEFAULT_REQUESTS`], or as many as are answered in [`MOST_SECONDS`], but at least
        /// [`FEWEST_REQUESTS`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        requests: Option<u32>,
        /// Discarded requests before them; unless 0, for [`LEAST_WARMUP_MILLISECONDS`] at least.
        warmup_requests: u32,
    },
    /// A duration: the throughput sweep.
    #[serde(rename_all = "camelCase")]
    Duration {
        /// Seconds of the timed window.
        seconds: u32,
        /// Discarded seconds before it.
        warmup_seconds: u32,
    },
    /// A rate, regardless of the responses: the open-loop sweep.
    #[serde(rename_all = "camelCase")]
    OpenLoop {
        /// The rate, in requests per second.
        requested_rps: f64,
        /// Seconds of the timed window.
        seconds: u32,
        /// Discarded seconds before it.
        warmup_seconds: u32,
    },
}

/// A ladder of rates: the open-loop sweep with a target.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Ladder {
    /// The rates, in requests per second and in ascending order.
    pub rates: Vec<f64>,
    /// Seconds of the window of a rung, at least: those with fewer than 1000 requests are longer.
    pub seconds: u32,
    /// What a rung has to meet.
    pub target: Target,
}

/// Bodies of several sizes that the subject sends back: the payload sweep.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Payload {
    /// Path and query to which bodies are sent.
    pub path: String,
    /// Sizes of the body in bytes, in ascending order.
    pub bytes: Vec<u32>,
    /// The seed from which bodies are generated: that of the run.
    pub seed: i64,
    /// Seconds of the window of each size.
    pub seconds: u32,
    /// Discarded seconds before each of them.
    pub warmup_seconds: u32,
}

/// What a rate has to meet.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// The 99th percentile from the schedule that must not be exceeded, in microseconds.
    pub p99_microseconds: f64,
    /// The share (0 to 1) of requests that may fail.
    pub max_error_share: f64,
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

/// What happens to a trial during which the node was noisy; the administrator chooses it in the
/// chart.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoiseRule {
    /// It is measured once more, and the quieter of the two windows counts.
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

    /// Whether this is the default, which is not written.
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

#[cfg(test)]
mod tests {
    use kube::CustomResourceExt as _;
    use wasmbench_api::BenchmarkRun;

    use super::*;

    #[test]
    fn a_run_cannot_ask_for_fewer_requests_than_a_p50_needs() {
        let crd = serde_json::to_value(BenchmarkRun::crd()).unwrap();
        let spec = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
        let warm = &spec["properties"]["sweeps"]["properties"]["warmLatency"];
        let fewest = warm["properties"]["requests"]["minimum"].as_f64();
        assert_eq!(fewest, Some(f64::from(FEWEST_REQUESTS)));
    }
}
