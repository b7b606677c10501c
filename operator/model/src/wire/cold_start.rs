//! What the operator requests of `wasmbench-probe cold-start`, and what the probe prints: one timeline
//! per pod, in which every moment names the clock that it comes from.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Pod;
use serde::{Deserialize, Serialize};
use wasmbench_api::cold_start::ColdStartClass;
use wasmbench_api::run::{Expectation, Ready, Scheme};

use crate::wire::action::ActionCall;
use crate::wire::addition::Addition;
use crate::wire::document::{Answer, Environment, NodeCpu};
use crate::wire::failure::Failure;
use crate::wire::sent::Sent;

/// Name and version of the document's schema.
pub const COLD_START_SCHEMA: &str = "wasmbench.dev/cold-start/v1";
/// Seconds within which the pods of a sample must be gone once they are deleted.
pub const REMOVAL_SECONDS: u32 = 30;
/// The same for pods that an object has made: they have the time to end that their owner gives them, 30 s
/// by default.
pub const SCALE_DOWN_SECONDS: u32 = 90;

/// Seconds that a probe waits until the image that it must remove is no longer in use, and for the
/// removal itself. The kubelet removes the remains of an ended pod within a minute.
pub const IMAGE_REMOVAL_SECONDS: u32 = 75;

/// Seconds that a probe waits for the kubelet's events about the pods of a sample, from which it
/// determines their class. The kubelet sends them when it has time: on a busy node, seconds after
/// the pod is gone.
pub const EVENT_SECONDS: u32 = 5;

/// Most samples that a trial may take to get `samples` that count, not including the discarded one:
/// those of the wrong class are taken again.
pub const fn with_refills(samples: u32) -> u32 {
    samples.saturating_mul(2)
}

/// One trial of cold starts. It carries the pod as data: the probe appends numbers to its name and
/// changes nothing else.
#[serde_with::skip_serializing_none]
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
    /// taken again. Absent: it does not matter and is not checked.
    pub class: Option<ColdStartClass>,
    /// Pods that are created at once in each sample.
    pub concurrency: u32,
    /// Seconds that the pods of a sample have to answer. Those that have not are given up.
    pub timeout_seconds: u32,
    /// Port of the service.
    pub port: u16,
    /// How the service is spoken to there; `HTTP` is not written.
    #[serde(default, skip_serializing_if = "Scheme::is_http")]
    pub scheme: Scheme,
    /// What is sent.
    #[serde(flatten)]
    pub sent: Sent,
    /// The function that is called instead of `path`; absent for a service.
    pub action: Option<ActionCall>,
    /// The request that shows that the subject is ready; absent: what is sent does.
    pub ready: Option<Ready>,
    /// What the answer must be.
    pub expect: Expectation,
    /// Prefix that the variant by definition puts before every body.
    #[serde(default)]
    pub body_prefix: String,
    /// Whether containerd's socket is mounted and may be used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub containerd: bool,
    /// Part of the log line that announces that the service listens; absent: the first line does.
    pub listening_line: Option<String>,
    /// The object that makes the pods once it is scaled; absent: the probe creates `pod`, of which only
    /// the beginning of names and the namespace count otherwise.
    pub scaled: Option<ScaledObject>,
    /// The request for a subject that does nothing except listen, measured after the samples;
    /// absent if this trial does not measure the harness's floor.
    pub floor: Option<Box<Self>>,
}

impl ColdStartRequest {
    /// Whether the samples start functions in a shared, long-lived pod.
    pub fn shares_pod(&self) -> bool {
        self.action.as_ref().is_some_and(ActionCall::shares_pod)
    }
}

/// An object that is there already, and whose scale the probe sets.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ScaledObject {
    /// Group of its kind.
    pub group: String,
    /// Version of its kind.
    pub version: String,
    /// Its kind in the plural.
    pub resource: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its uid: another one of this name is not touched.
    pub uid: String,
    /// The node on which its pods have to be.
    pub node: String,
    /// Whether its pods may be on the node's network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub host_network: bool,
    /// Kinds that may stand between it and its pods, in addition to those that
    /// [`kind_between`](wasmbench_api::owner::kind_between) knows: group, name and plural of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub between: Vec<[String; 3]>,
}

/// The outcome of one trial of cold starts.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct ColdStartDocument {
    /// [`COLD_START_SCHEMA`].
    pub schema: String,
    /// Version of the probe.
    pub probe_version: String,
    /// Why there is no usable measurement; absent when there is one.
    pub failure: Option<Failure>,
    /// All samples in order, the discarded one first.
    pub samples: Vec<ColdSample>,
    /// Samples of a subject that does nothing except listen, the discarded one first: the time that
    /// the harness itself takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub floor: Vec<ColdSample>,
    /// Why samples of the floor are missing, if some are. The trial counts without them.
    pub floor_failure: Option<Failure>,
    /// The answer of the last pod.
    pub answer: Option<Answer>,
    /// What the image consists of; absent unless containerd reported it.
    pub image: Option<ImageParts>,
    /// What the cluster added to the pods by its own rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Addition>,
    /// The node as the probe saw it.
    pub environment: Environment,
}

/// Pods that were created at once.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ColdSample {
    /// Whether the sample is shown but does not count.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub discarded: bool,
    /// Whether a pod found something else on the node than the class means: the sample is shown,
    /// does not count, and was taken again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub wrong_class: bool,
    /// Whether the runtime kept a compiled form of the image before the pods were created; absent
    /// if this could not be checked.
    pub compiled_before: Option<CompileCache>,
    /// The same after the pods were gone.
    pub compiled_after: Option<CompileCache>,
    /// What happened to the image's layers; absent unless the image was pulled and containerd
    /// reported it.
    pub layers: Option<PulledLayers>,
    /// When it began on the node's wall clock, nanoseconds since the Unix epoch: the zero of its
    /// timelines.
    pub start_unix_nanoseconds: i64,
    /// How far the wall clock drifted from the monotonic one during the sample, in nanoseconds.
    /// Much more than timer noise means that someone set the clock.
    pub clock_shift_nanoseconds: i64,
    /// The node's CPU time while the pods came up; absent if it cannot be read or the pods did not
    /// come up.
    pub node: Option<NodeSpan>,
    /// The timelines, one per pod.
    pub pods: Vec<ColdPod>,
}

/// The node's CPU time from just before the first pod is created until all have answered and are
/// `Ready`.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct NodeSpan {
    /// How long that took, in nanoseconds.
    pub duration_nanoseconds: u64,
    /// What the node's processors did in that time.
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
    /// The runtime keeps no compiled form: a start compiles.
    Cold,
    /// The runtime keeps a compiled form.
    Warm,
}

/// What an image consists of, by its manifest on the node.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ImageParts {
    /// How many layers it has.
    pub layers: u32,
    /// Bytes of its layers of Wasm, which are modules or components as they are; absent if none of
    /// its layers says that it is Wasm.
    pub wasm_bytes: Option<u64>,
}

/// The layers of an image that was pulled.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct PulledLayers {
    /// How many the image has.
    pub all: u32,
    /// How many of them were unpacked in the sample. The others were already there, because other
    /// images or containers on the node share them.
    pub unpacked: u32,
}

/// What the kubelet reported about a pull.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ImagePull {
    /// How long the runtime took, in whole milliseconds.
    pub milliseconds: u64,
    /// The same, including the time spent waiting for other pulls.
    pub with_waiting_milliseconds: u64,
    /// Size of the image as the runtime counts it, shared layers included.
    pub image_bytes: Option<u64>,
}

/// The timeline of one pod. A moment without evidence is absent, never guessed.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct ColdPod {
    /// Name of the pod.
    pub pod: String,
    /// The resolved image, with its digest.
    pub image_id: Option<String>,
    /// Version of the template from which somebody else's controller made it, as it names it.
    pub template: Option<String>,
    /// What the node already had when the pod was created, according to the available evidence.
    /// Absent: there is none.
    pub class: Option<ColdStartClass>,
    /// What the kubelet reported about the pull of the image; absent if the image was already there
    /// or nothing was reported.
    pub pull: Option<ImagePull>,
    /// When each step was reached.
    pub steps: BTreeMap<ColdStep, Moment>,
    /// Attempts up to the first correct answer; 1 means that the answer waited for the pod's
    /// address to be published, not for the service.
    pub attempts: u32,
    /// How the pod was given up; absent if its answer came in time.
    pub late: Option<LateStart>,
    /// The API's own timestamps, which have a resolution of one second: evidence, not a
    /// measurement.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub api_stamps: BTreeMap<String, String>,
}

/// A pod that was given up: how long it would have taken is unknown.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct LateStart {
    /// From the request that creates the pod until nobody waited for it any more, in nanoseconds.
    pub waited_nanoseconds: u64,
    /// What was seen last.
    pub failure: Failure,
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
    /// containerd has started that process.
    TaskStarted,
    /// The probe begins to send a function's code.
    InitSent,
    /// The service has logged that it listens; for a function, its `/init` has been
    /// answered.
    Listening,
    /// The container is running, according to the API.
    ContainerStarted,
    /// The API shows the pod's address.
    AddressPublished,
    /// The pod is `Ready`.
    ReadyPublished,
    /// The first correct answer is complete.
    FirstCorrectAnswer,
    /// The probe begins to send the request that deletes the pod.
    DeleteSent,
    /// The process of the container has ended, according to containerd.
    TaskExited,
    /// The pod is gone from the API.
    DeletionFinished,
}

/// When a step was reached.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Nanoseconds since the start of the sample.
    pub nanoseconds: i64,
    /// The clock that stamped it.
    pub clock: Clock,
    /// How much earlier the step may have been reached, in nanoseconds. Absent: the moment is an
    /// upper bound of unknown tightness.
    pub uncertainty_nanoseconds: Option<u64>,
}

/// Where a moment comes from. All sources read the same clock, that of the node.
#[derive(Serialize, Deserialize, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[serde(rename_all = "camelCase")]
#[strum(serialize_all = "camelCase")]
pub enum Clock {
    /// The probe, when it did something itself.
    Probe,
    /// The probe, when the API's watch reported the step.
    WatchArrival,
    /// containerd, when it wrote the log line.
    LogStamp,
    /// containerd or its shim, when it reported what it had done.
    ContainerdEvent,
    /// The kubelet, through the duration that it reported for a step that ends with a containerd
    /// event.
    KubeletDuration,
}

impl ColdSample {
    /// Whether the sample counts towards the results.
    pub const fn counts(&self) -> bool {
        !self.discarded && !self.wrong_class
    }

    /// Whether a pod found something else on the node than `class` means. With nothing to compile,
    /// the image itself is all that can be cached.
    pub fn violates(&self, class: ColdStartClass) -> bool {
        let is_plain = self.compiled_before == Some(CompileCache::NothingToCompile);
        let class = match class {
            ColdStartClass::CompileCached if is_plain => ColdStartClass::ImageCached,
            ColdStartClass::NodeCold
            | ColdStartClass::ImageCached
            | ColdStartClass::CompileCached
            | ColdStartClass::Scaled => class,
        };
        let mut found = self.pods.iter().filter_map(|pod| pod.class);
        found.any(|found| found != class)
    }

    /// The pods that were given up.
    pub fn late(&self) -> impl Iterator<Item = &LateStart> {
        self.pods.iter().filter_map(|pod| pod.late.as_ref())
    }

    /// Whether there is evidence of what each of its pods found.
    pub fn is_verified(&self) -> bool {
        self.pods.iter().all(|pod| pod.class.is_some())
    }
}

/// The versions of the templates that pods were made from, if somebody else made them.
pub fn templates<'a>(pods: impl IntoIterator<Item = &'a ColdPod>) -> Option<String> {
    let templates = pods.into_iter().filter_map(|pod| pod.template.as_deref());
    let all: BTreeSet<&str> = templates.collect();
    (!all.is_empty()).then(|| all.into_iter().collect::<Vec<_>>().join(", "))
}

impl ColdPod {
    /// Nanoseconds from the request that creates the pod to `step`.
    pub fn since_create(&self, step: ColdStep) -> Option<i64> {
        let reached = self.steps.get(&step)?.nanoseconds;
        Some(reached - self.steps.get(&ColdStep::CreateSent)?.nanoseconds)
    }
}
