//! What the operator requests of `wasmbench-probe scout`, and what the probe prints: how a variant
//! answers each workload before anything is measured, and how quiet the node is.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use wasmbench_api::run::{Expectation, Ready, Scheme};

use crate::wire::action::ActionCall;
use crate::wire::document::{Answer, Environment, NodeCpu, Readiness};
use crate::wire::failure::Failure;
use crate::wire::open_loop::Peak;
use crate::wire::request::{MeterLevel, NoiseRule};
use crate::wire::sent::{MixPart, Sent};

/// Name and version of the document's schema.
pub const SCOUT_SCHEMA: &str = "wasmbench.dev/scout/v2";
/// The workload of a scout's cell, which covers all of them. A workload of this name does no harm:
/// the point tells the two apart.
pub const EVERY_WORKLOAD: &str = "all";
/// How often each workload is requested: an answer that changes by itself shows at the second.
pub const ANSWERS: usize = 2;
/// Seconds of silence in which the node's CPU time is read.
pub const IDLE_SECONDS: u32 = 1;

/// One variant to look at.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ScoutRequest {
    /// The subject's address.
    pub address: IpAddr,
    /// The subject's port.
    pub port: u16,
    /// How the subject is spoken to there; `HTTP` is not written.
    #[serde(default, skip_serializing_if = "Scheme::is_http")]
    pub scheme: Scheme,
    /// Prefix that the variant by definition puts before every body; empty for most.
    #[serde(default)]
    pub body_prefix: String,
    /// The request that shows that the subject is ready; absent: any workload does.
    pub ready: Option<Ready>,
    /// Uid of the subject's pod, by which its cgroups are found.
    pub pod_uid: String,
    /// Uid of the echo server's pod, if a workload has one.
    pub upstream_uid: Option<String>,
    /// Uids of the pods that belong to the experiment without being measured; absent if the run names none.
    pub companion_uids: Option<Vec<String>>,
    /// Seconds to wait for correct answers, of all workloads together.
    pub ready_timeout_seconds: u32,
    /// Where the subject's CPU time is read.
    pub meter: MeterLevel,
    /// What to request, in the order of the spec.
    pub workloads: Vec<ScoutWorkload>,
    /// How the peak under each workload is measured; absent if no rate follows from it.
    pub peak: Option<PeakLoad>,
}

/// The closed-loop load that finds a peak.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PeakLoad {
    /// Connections that carry it.
    pub connections: u32,
    /// Seconds for which the peak is measured.
    pub seconds: u32,
    /// Discarded seconds before them.
    pub warmup_seconds: u32,
    /// Whether a noisy peak is measured once more.
    #[serde(default, skip_serializing_if = "NoiseRule::is_default")]
    pub noise: NoiseRule,
}

/// A request, and what its answer must be.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ScoutWorkload {
    /// Name of the workload.
    pub name: String,
    /// What is sent.
    #[serde(flatten)]
    pub sent: Sent,
    /// All requests of a mix, of which `sent` is the first; empty if there is one request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mix: Vec<MixPart>,
    /// The function that is called instead of `path`; absent for a service.
    pub action: Option<ActionCall>,
    /// What the answer must be.
    pub expect: Expectation,
    /// Whether some requests may fail: if so, another status means nothing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_fail: bool,
}

/// What was seen of one variant.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ScoutDocument {
    /// [`SCOUT_SCHEMA`].
    pub schema: String,
    /// Version of the probe.
    pub probe_version: String,
    /// Why nothing was seen at all; absent when any workload was answered.
    pub failure: Option<Failure>,
    /// From the first attempt to the first correct answer of any workload.
    pub readiness: Readiness,
    /// What was seen of each workload, in the order of the request.
    pub workloads: Vec<Scouted>,
    /// The node while nothing ran; absent where its CPU time cannot be read.
    pub idle: Option<IdleNode>,
    /// The node as the probe saw it.
    pub environment: Environment,
}

/// What was seen of one workload.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Scouted {
    /// Name of the workload.
    pub workload: String,
    /// Its answers, at most [`ANSWERS`], over one connection if the subject kept it.
    pub answers: Vec<ScoutedAnswer>,
    /// What is wrong with the answers, or why there are none; absent when all is right.
    pub failure: Option<Failure>,
    /// Why the workload was not requested.
    pub not_asked: Option<String>,
    /// The peak under the workload; absent if it was not requested or not found.
    pub peak: Option<Peak>,
    /// Why the requested peak was not found.
    pub no_peak: Option<String>,
}

/// An answer, and how it arrived.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ScoutedAnswer {
    /// What came.
    #[serde(flatten)]
    pub answer: Answer,
    /// How its end was marked.
    pub framing: BodyFraming,
    /// What became of the connection.
    pub connection: AfterAnswer,
}

/// How the end of an answer was marked.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
pub enum BodyFraming {
    /// By `Content-Length`.
    Length,
    /// By the last chunk.
    Chunked,
    /// By the end of the connection: a truncated answer looks like a whole one.
    UntilClose,
    /// By the status, which has no body.
    NoBody,
}

/// What became of the connection after an answer.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
pub enum AfterAnswer {
    /// It can carry another request.
    Kept,
    /// The answer announced that it ends: `Connection: close`, or HTTP/1.0 without `keep-alive`.
    CloseAnnounced,
    /// It ended without a word.
    Closed,
    /// More bytes came than the answer has, so that the next one cannot be distinguished.
    MoreBytes,
}

/// CPU time while nothing of the run worked, in nanoseconds.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct IdleNode {
    /// How long.
    pub duration_nanoseconds: u64,
    /// Of the whole node.
    pub node: NodeCpu,
    /// Of the subject with its shim, the echo server and the probe; absent where the subject's
    /// cannot be read.
    pub own_nanoseconds: Option<u64>,
}
