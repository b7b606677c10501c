//! A cluster, as the operator sees it, in which everything goes wrong that does in a real one.

mod nodes;
mod objects;
mod others;
pub mod phase;
mod scaled;
mod steps;
mod time;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
pub use objects::{Objects, objects, occupant};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use wasmbench_core::build::names;
use wasmbench_core::observed::{Observed, ObservedNode, ObservedPod, ObservedTaint, PodState};
use wasmbench_core::plan::Step;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered::Likeness;
use wasmbench_model::wire::record::TrialId;
use wasmbench_model::wire::scout::Scouted;

use crate::common;

pub use nodes::{Fault, Nodes};
pub use scaled::Owner;
pub use time::later;

/// How hostile the world is: each is a chance in percent per event.
#[derive(Clone, Copy, Debug)]
pub struct Hostility {
    pub operator_dies: u32,
    pub pod_crashes: u32,
    pub pod_vanishes: u32,
    pub image_missing: u32,
    pub probe_fails: u32,
    pub suspends: u32,
    /// A deleted pod ends but stays, because somebody gave it a finalizer.
    pub pod_stays: u32,
    /// A pod is changed while it is being created: a container is injected.
    pub pod_altered: u32,
    /// The same of probes.
    pub probe_altered: u32,
    /// The operator is updated, and desires other pods from then on.
    pub operator_updated: u32,
    /// A report cannot be written.
    pub report_refused: u32,
    /// What goes wrong with other objects.
    pub objects: Objects,
}

pub struct World {
    pub random: ChaCha8Rng,
    pub hostility: Hostility,
    pub now: Timestamp,
    pub observed: Observed,
    pub stored: BTreeMap<TrialId, u32>,
    pub next_uid: u64,
    /// Uid of the run.
    pub uid: String,
    /// The nodes, whether or not an operator looks at them.
    pub nodes: Nodes,
    /// The node that the run claimed last: what it creates late still goes there.
    pub claimed: Option<String>,
    /// Uids of pods that stay forever.
    pub staying: BTreeSet<String>,
    /// What the scout of each variant will see.
    pub scouts: BTreeMap<String, Vec<Scouted>>,
    /// Creations that have not taken effect yet, although the operator got an error.
    pub late: Vec<Step>,
    /// Uids of the probes' Jobs that appeared in this way.
    pub came_late: BTreeSet<String>,
    /// How many times the probe of each trial was launched.
    pub launched: BTreeMap<TrialId, u32>,
    /// Names of the run's echo server, by how many times it was started before.
    pub upstream_names: Vec<String>,
    /// The pods of an object that is there already.
    pub target_pods: Vec<ObservedPod>,
    /// The version of it that a write saw which has not taken effect yet.
    pub late_scale: Option<String>,
    /// How often its owner does something to it: a chance in percent per step.
    pub owner_acts: u32,
    /// How many records in a row could not be written.
    pub refused: u32,
    /// How many results of each trial were removed.
    lost: BTreeMap<TrialId, u32>,
    /// Reasons of failures for which something has happened.
    causes: BTreeSet<&'static str>,
}

impl World {
    pub fn new(run: &ValidatedRun, seed: u64, hostility: Hostility) -> Self {
        let tolerated = ObservedTaint {
            key: "bench".into(),
            ..ObservedTaint::default()
        };
        let node = ObservedNode {
            taints: vec![tolerated],
            ..common::node("bench-1")
        };
        let observed = Observed {
            nodes: vec![node.clone()],
            demands: common::demands(run),
            runtime_classes: ["spin".to_owned()].into(),
            ..Observed::default()
        };
        let nodes = Nodes::new(vec![node], 0);
        let random = ChaCha8Rng::seed_from_u64(seed);
        let now = Timestamp::UNIX_EPOCH;
        let mut world = Self {
            random,
            hostility,
            now,
            observed,
            stored: BTreeMap::new(),
            next_uid: 0,
            uid: run.uid.clone(),
            nodes,
            claimed: None,
            staying: BTreeSet::new(),
            scouts: BTreeMap::new(),
            late: vec![],
            came_late: BTreeSet::new(),
            launched: BTreeMap::new(),
            upstream_names: (0..4).map(|again| names::upstream(run, again)).collect(),
            target_pods: vec![],
            late_scale: None,
            owner_acts: 0,
            refused: 0,
            lost: BTreeMap::new(),
            causes: BTreeSet::new(),
        };
        world.look_at_nodes();
        world
    }

    pub fn happens(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    /// Something happens for which trials may fail with this reason.
    pub fn cause(&mut self, reason: &'static str) {
        self.causes.insert(reason);
    }

    /// Whether anything has happened for which trials may fail with this reason.
    pub fn has_caused(&self, reason: &str) -> bool {
        self.causes.contains(reason)
    }

    /// The result of a trial is removed, which may happen once.
    pub fn result_is_lost(&mut self, trial: TrialId) {
        let times = self.lost.entry(trial).or_default();
        *times += 1;
        if *times > 1 {
            self.cause("ProbeFailed");
        }
    }

    fn new_pod(&mut self, name: &str) -> ObservedPod {
        self.next_uid += 1;
        ObservedPod {
            name: name.to_owned(),
            uid: self.next_uid.to_string(),
            created: self.now,
            deleting: None,
            node: self.claimed.clone(),
            likeness: Likeness::Unaltered,
            ip: None,
            state: PodState::Pending(None),
        }
    }
}

/// A pod into which something was injected.
pub fn altered() -> Likeness {
    Likeness::Altered("the container 'istio-proxy' was added".into())
}
