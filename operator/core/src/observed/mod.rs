//! What was seen of the cluster, as plain data: a plan depends on nothing else but the run and the
//! time. The controller fills it in; tests write it by hand.

mod queued;

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use jiff::Timestamp;
use wasmbench_api::run::Toleration;

use wasmbench_model::altered::Likeness;
use wasmbench_model::pace::Noted;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::TrialId;
use wasmbench_model::wire::scout::Scouted;

use crate::scale::{ObservedTarget, Scaled, Target};

pub use queued::{Candidate, Expected, ObservedRun, Outlook, Standing, Turn};

/// Everything seen for one run.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// The node that the run holds, or else the one that it may take, while it exists.
    pub nodes: Vec<ObservedNode>,
    /// What the run demands of its node.
    pub demands: Demands,
    /// Since when no node has met these demands; `None` if one did when the run was last looked at.
    pub unmatched_since: Option<Timestamp>,
    /// The claims on nodes that the run has, or was the last to have.
    pub leases: Vec<ObservedLease>,
    /// When and where it is its turn; `None` while it holds a node, and until the queue has placed it.
    pub turn: Option<Turn>,
    /// Claims of nobody on nodes that are gone.
    pub gone: Vec<ObservedLease>,
    /// Names of the `RuntimeClasses` that exist.
    pub runtime_classes: BTreeSet<String>,
    /// What cold-start and density probes may not do in the run's namespace.
    pub forbidden: Forbidden,
    /// The run's subjects.
    pub subjects: Vec<ObservedSubject>,
    /// Pods that a cold-start or density probe has created and not removed yet.
    pub cold_subjects: Vec<ObservedSubject>,
    /// Pods of the object that the run's claim notes, whoever of its owners made them.
    pub scaled_subjects: Vec<ObservedSubject>,
    /// The objects that the run's variants scale, and the one that its claim notes.
    pub targets: BTreeMap<Target, ObservedTarget>,
    /// The run's echo servers: at most one works, and those that have ended stay until the run is
    /// over.
    pub upstreams: Vec<ObservedPod>,
    /// The run's probe Jobs, without late ones.
    pub probes: Vec<ObservedProbe>,
    /// The late probes that this run removes (`plan::is_to_remove`).
    pub late: Vec<LateProbe>,
    /// What other runs have on nodes: load, if the run holds a node; any pod, if it may take one.
    pub occupants: Vec<Occupant>,
    /// Number of blocks decided so far; 0 stands for the number that the run begins with.
    pub blocks: u32,
    /// How far trials scatter so far; `None` before the third block is complete.
    pub scatter: Option<Scatter>,
    /// What speaks against the numbers of the complete blocks, for people.
    pub doubts: Option<String>,
    /// The number that a run with precision planned after its first blocks. Unknown between a restart
    /// of the operator and the end of the block.
    pub planned_blocks: Option<u32>,
    /// Recorded trials.
    pub records: BTreeMap<TrialId, Ended>,
    /// When they were recorded, and what made them longer.
    pub noted: BTreeMap<TrialId, Noted>,
    /// What the scout of each variant saw of its workloads.
    pub scouted: BTreeMap<String, Vec<Scouted>>,
    /// SHA-256 of the bodies that workloads send from `ConfigMaps`, as they were first read, by the
    /// workload's name; absent as long as there is none.
    pub bodies: BTreeMap<String, String>,
    /// Whether the records have reached the size that the administrator allows.
    pub records_full: bool,
    /// Whether the report exists.
    pub report: bool,
}

impl Observed {
    /// The echo server, if there is one that has not ended.
    pub fn upstream(&self) -> Option<&ObservedPod> {
        self.upstreams.iter().find(|pod| pod.works())
    }

    /// The object that the run has scaled up and that is not as before yet, and what was seen of it.
    pub fn scaled(&self) -> Option<(&Scaled, ObservedTarget)> {
        let mut leases = self.leases.iter();
        let scaled = leases.find_map(|lease| lease.scaled.as_deref())?;
        let found = self.targets.get(&scaled.target);
        Some((scaled, found.cloned().unwrap_or_default()))
    }
}

/// What the account of probes that make pods lacks the right to in a namespace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forbidden {
    /// To create pods, and what else the same role grants.
    pub pods: bool,
    /// To scale something that a variant names.
    pub scales: bool,
}

/// How far equal trials of the run scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// The number of complete blocks that show it.
    pub blocks: u32,
    /// The scatter, as a share; `None` if no primary comparison shows it.
    pub share: Option<f64>,
}

/// Something of another run that may use a node: a pod that has not ended, or a Job that may still
/// start one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Occupant {
    /// The node.
    pub node: String,
    /// Kind and name, for people.
    pub what: String,
    /// The run that it belongs to.
    pub run: RunName,
    /// Whether that run can still measure, and so removes it itself.
    pub lives: bool,
}

/// A probe Job that an operator launched although another one had taken over from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateProbe {
    /// The node.
    pub node: String,
    /// Name of the Job.
    pub job: String,
    /// Uid of the Job.
    pub uid: String,
    /// Uid of the run that it measures.
    pub run_uid: String,
    /// Whether the Job is being deleted.
    pub deleting: bool,
}

/// A run that may be gone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunName {
    /// Its uid.
    pub uid: String,
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedNode {
    /// Its name.
    pub name: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Taints that keep pods away.
    pub taints: Vec<ObservedTaint>,
    /// Whether its kubelet reports that it is ready.
    pub ready: bool,
    /// When it last became ready, or stopped being so: to the second, rounded down.
    pub ready_changed: Option<Timestamp>,
    /// Whether somebody cordoned it.
    pub cordoned: bool,
    /// Its whole CPUs; `None` if it does not report them.
    pub cpus: Option<u32>,
}

/// What a run demands of its node. All of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Demands {
    /// Labels that the node carries.
    pub labels: Vec<LabelDemand>,
    /// CPUs that the node has, if the run demands more than one.
    pub cpus: Option<CpuDemand>,
    /// Taints that the run's pods tolerate. The tolerations of a `RuntimeClass` do not count: the
    /// probe and the other variants have none of them.
    pub tolerations: Vec<Toleration>,
    /// The node that its records come from: one run measures one node.
    pub node: Option<String>,
    /// RuntimeClasses that the cluster lacks. They demand nothing: the variants that name them are skipped.
    pub missing_classes: Vec<String>,
}

/// A label that a node must carry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LabelDemand {
    /// Its key.
    pub key: String,
    /// Its value must be one of these.
    pub values: Vec<String>,
    /// Who demands it, for people.
    pub by: String,
}

/// CPUs that a node must have.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CpuDemand {
    /// How many.
    pub cpus: u32,
    /// Who demands them, for people.
    pub by: String,
}

/// A taint with the effect `NoSchedule` or `NoExecute`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedTaint {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Its effect.
    pub effect: String,
}

/// A claim on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedLease {
    /// The node.
    pub node: String,
    /// Uid of the run that holds it; `None` once it was released.
    pub holder: Option<String>,
    /// Guards a takeover: the write fails when someone else was faster.
    pub resource_version: Option<String>,
    /// The object that its holder has scaled up. As long as there is one, nobody else takes the node.
    pub scaled: Option<Box<Scaled>>,
}

/// A pod, whatever its role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedPod {
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// When it was created.
    pub created: Timestamp,
    /// When it should be gone, if it is being deleted.
    pub deleting: Option<Timestamp>,
    /// The node that it is on, once it has one.
    pub node: Option<String>,
    /// Whether it is the desired pod.
    pub likeness: Likeness,
    /// Its address, once it has one.
    pub ip: Option<IpAddr>,
    /// How far it has got.
    pub state: PodState,
}

impl ObservedPod {
    /// Whether it may still use the node. A pod that only a finalizer keeps, after its containers
    /// have ended, does not.
    pub fn works(&self) -> bool {
        !matches!(self.state, PodState::Ended { .. })
    }
}

/// How far a pod has got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PodState {
    /// Not running yet; with the reason and message of its wait, if known.
    Pending(Option<Waiting>),
    /// Our container runs.
    Running,
    /// Our container ended.
    Ended {
        /// Exit code, if known.
        exit_code: Option<i32>,
        /// `Error`, `OOMKilled`, `Evicted`, ...
        reason: String,
        /// Its last message, if known.
        message: String,
    },
}

/// Why a pod is not running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// `ImagePullBackOff`, `Unschedulable`, ...
    pub reason: String,
    /// A message for people.
    pub message: String,
}

/// A subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedSubject {
    /// Which trial it serves.
    pub trial: TrialId,
    /// Its pod.
    pub pod: ObservedPod,
}

/// A probe Job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedProbe {
    /// Which trial it measures.
    pub trial: TrialId,
    /// Name of the Job.
    pub job: String,
    /// Uid of the Job; empty if only its pod is left.
    pub uid: String,
    /// When it was created.
    pub created: Timestamp,
    /// Uid of the subject's pod that it measures; empty for cold starts.
    pub subject_uid: String,
    /// Whether the Job is being deleted.
    pub deleting: bool,
    /// How the Job ended, according to its conditions.
    pub end: Option<JobEnd>,
    /// Its pod, once there is one.
    pub pod: Option<ObservedPod>,
}

impl ObservedProbe {
    /// Whether the probe ended well, but its pod was removed before its log was read.
    pub fn is_lost(&self) -> bool {
        self.end == Some(JobEnd::Completed) && self.pod.is_none() && !self.deleting
    }

    /// Whether its Job has no pod and may still get one.
    pub fn awaits_pod(&self) -> bool {
        self.end.is_none() && self.pod.is_none() && !self.deleting
    }
}

/// How a Job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JobEnd {
    /// Its pod succeeded.
    Completed,
    /// It failed: the reason, e.g. `DeadlineExceeded`.
    Failed(String),
}
