//! What the operator asks of `wasmbench-probe cold-start`, and what that prints: one timeline per
//! pod, every moment with the clock that it comes from.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use serde::{Deserialize, Serialize};
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_api::run::Expectation;

use crate::wire::action::ActionCall;
use crate::wire::document::{Answer, Environment, NodeCpu, ProbeFailure};

/// Name and version of the document's schema.
pub const COLD_START_SCHEMA: &str = "wasmbench.dev/cold-start/v1";
/// Seconds that the pods of a sample have to be gone once they are deleted.
pub const REMOVAL_SECONDS: u32 = 30;

/// Seconds that a probe waits until nobody needs an image any more that it is to remove, and for
/// the removal. The kubelet removes what is left of a pod that ended within a minute.
pub const IMAGE_REMOVAL_SECONDS: u32 = 75;

/// Seconds that a probe waits for the kubelet's events about the pods of a sample, from which it
/// tells their class. The kubelet sends them when it has time: on a busy node seconds after the pod
/// is gone.
pub const EVENT_SECONDS: u32 = 5;

/// Samples that a trial may take for so many that count, without the discarded one: those of the
/// wrong class are taken again.
pub const fn with_refills(samples: u32) -> u32 {
    samples.saturating_mul(2)
}

/// One trial of cold starts. It carries the pod as data: the probe adds a number to its name and
/// changes nothing else.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartRequest {
    /// The pod to create, complete with labels, owner and placement.
    pub pod: Pod,
    /// Label selector that finds the pods of this trial.
    pub selector: String,
    /// Samples that count.
    pub samples: u32,
    /// What the node must already have when a pod is created. Samples that found something else are
    /// taken again. Absent: it does not matter, and nobody looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ColdStartClass>,
    /// Pods that are created at once in each sample.
    pub concurrency: u32,
    /// Seconds until all pods of a sample must have answered.
    pub timeout_seconds: u32,
    /// Port of the service.
    pub port: u16,
    /// Path and query of the request.
    pub path: String,
    /// What is called in place of `path`, where it is a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<ActionCall>,
    /// What the answer must be.
    pub expect: Expectation,
    /// What the variant puts before every body by definition.
    #[serde(default)]
    pub body_prefix: String,
    /// Whether containerd's socket is mounted and may be used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub containerd: bool,
    /// Part of the log line that says that the service listens; absent: the first line says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listening_line: Option<String>,
    /// The same for a subject that does nothing but listen, taken after the samples; absent: this
    /// trial has no part in the harness' floor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor: Option<Box<Self>>,
}

impl ColdStartRequest {
    /// Whether what is started are functions in a pod that stays.
    pub fn shares_pod(&self) -> bool {
        self.action.as_ref().is_some_and(ActionCall::shares_pod)
    }
}

/// The outcome of one trial of cold starts.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartDocument {
    /// [`COLD_START_SCHEMA`].
    pub schema: String,
    /// Version of the probe.
    pub probe_version: String,
    /// Why there is no usable measurement; absent when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<ProbeFailure>,
    /// All samples in their order, the discarded one first.
    pub samples: Vec<ColdSample>,
    /// Samples of a subject that does nothing but listen, the discarded one first: what the harness
    /// takes by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floor: Vec<ColdSample>,
    /// Why there are no more samples of the floor, where some are missing. The trial counts
    /// without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub floor_failure: Option<ProbeFailure>,
    /// The answer of the last pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The node as the probe saw it.
    pub environment: Environment,
}

/// Pods that were created at once.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ColdSample {
    /// Whether the sample is shown but does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discarded: bool,
    /// Whether a pod found something else on the node than the class says: the sample is shown,
    /// does not count, and was taken again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrong_class: bool,
    /// Whether the runtime kept a compiled form of the image before the pods were created; absent
    /// where nobody could look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled_before: Option<CompileCache>,
    /// The same when the pods were gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiled_after: Option<CompileCache>,
    /// What became of the image's layers; absent unless it was pulled and containerd reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layers: Option<PulledLayers>,
    /// When it began on the node's wall clock, nanoseconds since the Unix epoch: the zero of its
    /// timelines.
    pub start_unix_nanoseconds: i64,
    /// How far the wall clock ran away from the monotonic one during the sample, in nanoseconds.
    /// Much more than the timer's noise means that someone set the clock.
    pub clock_shift_nanoseconds: i64,
    /// The node's CPU time while the pods came up; absent where it cannot be read, and when they
    /// did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeSpan>,
    /// The timelines, one per pod.
    pub pods: Vec<ColdPod>,
}

/// The node from just before the first pod is created until all have answered and are `Ready`.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NodeSpan {
    /// How long that took, in nanoseconds.
    pub duration_nanoseconds: u64,
    /// What its processors did meanwhile.
    #[serde(flatten)]
    pub cpu: NodeCpu,
}

/// Whether a runtime keeps a compiled form of an image, which it made at an earlier start.
#[derive(
    Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum CompileCache {
    /// No layer of the image is Wasm.
    NothingToCompile,
    /// It does not: a start compiles.
    Cold,
    /// It does.
    Warm,
}

/// The layers of an image that was pulled.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PulledLayers {
    /// How many the image has.
    pub all: u32,
    /// How many of them were unpacked in the sample. The others were there, because other images or
    /// containers of the node have them too.
    pub unpacked: u32,
}

/// What the kubelet said of a pull.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ImagePull {
    /// How long the runtime took, in whole milliseconds.
    pub milliseconds: u64,
    /// The same with the time in which other pulls were waited for.
    pub with_waiting_milliseconds: u64,
    /// Size of the image as the runtime counts it, shared layers included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_bytes: Option<u64>,
}

/// The timeline of one pod. A moment without evidence is absent, never guessed.
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ColdPod {
    /// Name of the pod.
    pub pod: String,
    /// Image as it was resolved, with its digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_id: Option<String>,
    /// What the node already had when the pod was created, by the evidence that there is. Absent:
    /// there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<ColdStartClass>,
    /// What the kubelet said of the pull of the image; absent when it was there, or nothing was
    /// said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull: Option<ImagePull>,
    /// When each step was reached.
    pub steps: BTreeMap<ColdStep, Moment>,
    /// Attempts up to the first correct answer; with 1 the answer waited for the pod's address to
    /// be published, not for the service.
    pub attempts: u32,
    /// The API's own stamps, which have a resolution of one second: evidence, not a measurement.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub api_stamps: BTreeMap<String, String>,
}

/// A step of a pod's start, in the order in which they are usually reached.
#[derive(
    Serialize,
    Deserialize,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    strum::IntoStaticStr,
    strum::EnumIter,
)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum ColdStep {
    /// The probe begins to send the request that creates the pod.
    CreateSent,
    /// The API server has confirmed it.
    CreateAccepted,
    /// The scheduler has chosen the node.
    Scheduled,
    /// containerd has started the process of the pod's sandbox.
    SandboxStarted,
    /// The pod's sandbox and network are ready (`PodReadyToStartContainers`).
    SandboxReady,
    /// The kubelet has begun to pull the image.
    ImagePullStarted,
    /// containerd has pulled and unpacked the image.
    ImagePulled,
    /// containerd has created the process of the container.
    TaskCreated,
    /// containerd has started it.
    TaskStarted,
    /// The probe begins to send a function's code.
    InitSent,
    /// The service has said in its log that it listens; of a function, its `/init` is answered.
    Listening,
    /// The container runs, as the API tells it.
    ContainerStarted,
    /// The API tells the pod's address.
    AddressPublished,
    /// The pod is `Ready`.
    ReadyPublished,
    /// The first correct answer is complete.
    FirstCorrectAnswer,
    /// The probe begins to send the request that deletes the pod.
    DeleteSent,
    /// The process of the container has ended, as containerd saw it.
    TaskExited,
    /// The pod is gone from the API.
    DeletionFinished,
}

/// When a step was reached.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Nanoseconds since the start of the sample.
    pub nanoseconds: i64,
    /// The clock that stamped it.
    pub clock: Clock,
    /// How much earlier the step may have been reached, in nanoseconds. Absent: the moment is an
    /// upper bound, and nobody knows how tight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertainty_nanoseconds: Option<u64>,
}

/// Where a moment comes from. All of them read the same clock, that of the node.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Clock {
    /// The probe, when it did something itself.
    Probe,
    /// The probe, when the API's watch reported the step.
    WatchArrival,
    /// containerd, when it wrote the line of the log.
    LogStamp,
    /// containerd or its shim, when it reported what it had done.
    ContainerdEvent,
    /// The kubelet, by the duration it reported for what containerd's events end.
    KubeletDuration,
}

impl ColdSample {
    /// Whether the sample is part of the numbers.
    pub const fn counts(&self) -> bool {
        !self.discarded && !self.wrong_class
    }

    /// Whether a pod found something else on the node than `class`. With nothing to compile, an
    /// image that is there is all that can be cached.
    pub fn violates(&self, class: ColdStartClass) -> bool {
        let is_plain = self.compiled_before == Some(CompileCache::NothingToCompile);
        let class = match class {
            ColdStartClass::CompileCached if is_plain => ColdStartClass::ImageCached,
            ColdStartClass::NodeCold
            | ColdStartClass::ImageCached
            | ColdStartClass::CompileCached => class,
        };
        let mut found = self.pods.iter().filter_map(|pod| pod.class);
        found.any(|found| found != class)
    }

    /// Whether there is evidence of what each of its pods found.
    pub fn is_verified(&self) -> bool {
        self.pods.iter().all(|pod| pod.class.is_some())
    }
}

impl ColdPod {
    /// Nanoseconds from the request that creates the pod to `step`.
    pub fn since_create(&self, step: ColdStep) -> Option<i64> {
        let reached = self.steps.get(&step)?.nanoseconds;
        Some(reached - self.steps.get(&ColdStep::CreateSent)?.nanoseconds)
    }
}
