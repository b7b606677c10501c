//! What is measured.

use kube::KubeSchema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::absent::number;
use crate::cold_start::ColdStart;
use crate::density::Density;
use crate::open_loop::OpenLoop;
use crate::payload::Payload;
use crate::validation;

/// What is measured: at least one sweep.
#[serde_with::skip_serializing_none]
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
#[x_kube(validation = Rule::new(validation::SWEEPS_RULE).message(validation::SWEEPS_MESSAGE))]
pub struct Sweeps {
    /// Time from the creation of a pod to its first correct answer, one point per number of pods
    /// at once.
    pub cold_start: Option<ColdStart>,

    /// Latency of a warm subject under very little load.
    pub warm_latency: Option<WarmLatency>,

    /// Rate and latency of a loaded subject, one point per number of connections.
    pub throughput: Option<Throughput>,

    /// Latency at fixed rates, counted from when each request was due, one point per rate; or, with
    /// a target, the highest rate that meets it.
    pub open_loop: Option<OpenLoop>,

    /// What the bytes of bodies cost: CPU time per request by the size of a body that is sent back.
    /// One point, whose trials measure all sizes.
    pub payload: Option<Payload>,

    /// Memory of one more instance, and how idle instances affect a busy one. One point, whose
    /// trials climb the whole ladder.
    pub density: Option<Density>,
}

/// A fixed number of requests, one after the other on each connection.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct WarmLatency {
    /// Timed requests per trial; more if these take less than 1 second. Default: 1000, or as many
    /// as are answered in 10 seconds if that is fewer, and at least 20, without which there is no
    /// p50.
    #[schemars(range(min = 20, max = 1_000_000))]
    pub requests: Option<u32>,

    /// Discarded requests before the timed ones. The warm-up lasts at least half a second, and
    /// longer while the rate is still changing. With 0 it is only 50 requests.
    #[serde(default = "number::<20>")]
    #[schemars(range(min = 0, max = 100_000))]
    pub warmup_requests: u32,

    /// Connections that share the requests.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1, max = 64))]
    pub connections: u32,
}

/// As many requests as the subject can answer in a fixed time.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Throughput {
    /// Numbers of connections, one sweep point each, e.g. `[10, 50, 100]`.
    #[schemars(
        length(min = 1, max = 32),
        inner(range(min = 1, max = 2000)),
        extend("x-kubernetes-list-type" = "set")
    )]
    pub connections: Vec<u32>,

    /// Length of the timed window of a trial, in seconds.
    #[serde(default = "number::<30>")]
    #[schemars(range(min = 1, max = 600))]
    pub duration_seconds: u32,

    /// Length of the discarded warm-up before the timed window, in seconds; up to three times as
    /// long while the rate is still changing.
    #[serde(default = "number::<5>")]
    #[schemars(range(min = 0, max = 120))]
    pub warmup_seconds: u32,

    /// Whether a connection carries many requests or one.
    #[serde(default)]
    pub connection_reuse: ConnectionReuse,
}

/// Whether a connection carries many requests or one.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
)]
pub enum ConnectionReuse {
    /// Connections stay open, as most clients inside a cluster keep them.
    #[default]
    KeepAlive,
    /// A new connection for every request: each latency includes the handshake.
    PerRequest,
}
