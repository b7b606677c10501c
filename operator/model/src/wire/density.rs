//! What the operator requests of `wasmbench-probe density`, and what the probe prints: one entry per
//! step of the ladder.

use serde::{Deserialize, Serialize};

use crate::wire::addition::Addition;
use crate::wire::cold_start::ColdStartRequest;
use crate::wire::document::{Answer, Environment, TimedWindow};
use crate::wire::failure::Failure;
use crate::wire::instrument::CpuLists;
use crate::wire::request::MeterLevel;

/// Name and version of the document's schema.
pub const DENSITY_SCHEMA: &str = "wasmbench.dev/density/v1";

/// Seconds that the load of a step may take, warm-up and a repeat included.
pub const LOAD_SECONDS: u32 = 120;

/// One climb of the ladder. Instances are created like the pods of a cold start; `samples` and
/// `concurrency` of that request have no meaning here.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityRequest {
    /// How an instance is created and queried.
    pub start: ColdStartRequest,
    /// Instances at each step, in ascending order.
    pub instances: Vec<u32>,
    /// Timed requests to the first instance at each step.
    pub requests: u32,
    /// Percentage of the node's memory that must be available before instances are added.
    pub available_memory_percent: u32,
    /// Where memory is read.
    pub meter: MeterLevel,
}

/// The outcome of one climb.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityDocument {
    /// [`DENSITY_SCHEMA`].
    pub schema: String,
    /// Version of the probe.
    pub probe_version: String,
    /// Version of fortio's runner, which times the requests.
    #[serde(default)]
    pub fortio_version: String,
    /// Why there is no usable measurement; absent when there is one.
    pub failure: Option<Failure>,
    /// The steps that were reached, in order.
    pub steps: Vec<DensityStep>,
    /// Why the climb ended before its last step; absent when it did not.
    pub stopped: Option<DensityStopped>,
    /// The answer of the last instance that came up.
    pub answer: Option<Answer>,
    /// Image of the instances as it was resolved, with its digest.
    pub image_id: Option<String>,
    /// Version of the template from which somebody else's controller made them, as it names it.
    pub template: Option<String>,
    /// What the cluster added to the pods by its own rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Addition>,
    /// The node as the probe saw it.
    pub environment: Environment,
}

/// One step of the ladder: a number of instances.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct DensityStep {
    /// Instances that run.
    pub instances: u32,
    /// How many of them were created at once for this step.
    pub added: u32,
    /// Time from the request that creates the first of these until all of them have answered
    /// correctly once, in nanoseconds.
    pub all_answered_nanoseconds: u64,
    /// The load on the first instance while the others idle.
    pub first: TimedWindow,
    /// Which CPUs that instance and the load generator may run on.
    pub cpus: Option<CpuLists>,
    /// Memory of all instances together after that load; absent unless it was read for each.
    pub memory: Option<DensityMemory>,
    /// Memory that the node reports as available at the same moment, in bytes.
    pub node_available_bytes: Option<u64>,
}

/// Memory of a number of pods, in bytes.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DensityMemory {
    /// Working sets of the pods; if the kernel does not report them, the memory in use.
    pub pods_bytes: u64,
    /// Memory that belongs only to the shims; absent unless each pod's shim was seen.
    pub outside_anonymous_bytes: Option<u64>,
    /// Resident memory of the shims, including file pages that they share.
    pub outside_resident_bytes: Option<u64>,
}

impl DensityMemory {
    /// Memory of the sandboxes: the pods, plus what belongs only to their shims, if that was seen.
    pub fn sandboxes(&self) -> u64 {
        self.pods_bytes + self.outside_anonymous_bytes.unwrap_or_default()
    }
}

/// Why a climb ended before its last step.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct DensityStopped {
    /// Instances that the step would have had.
    pub at: u32,
    /// One word.
    pub reason: DensityStopReason,
    /// What was seen.
    pub message: String,
}

/// Why a climb ended before its last step, as one word.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
pub enum DensityStopReason {
    /// The node has less memory available than `stop.availableMemoryPercent`.
    MemoryLow,
    /// The scheduler has no room on the node.
    NoRoom,
    /// The API server refuses another pod, for example because of a quota.
    Refused,
    /// Not all instances answered within `stop.timeoutSeconds`.
    TooSlow,
    /// An instance ended, for example because the node ran out of memory.
    InstanceEnded,
}
