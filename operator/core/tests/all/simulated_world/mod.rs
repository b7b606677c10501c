//! A cluster, as the operator sees it, in which everything goes wrong that does in a real one.

mod nodes;
mod steps;
mod time;

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use wasmbench_core::observed::{Likeness, NodeSeen, Observed, PodSeen, PodState, TaintSeen};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_core::wire::record::TrialId;
use wasmbench_core::wire::scout::Scouted;

use crate::common;

pub use nodes::{Blow, Nodes};
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
    /// The operator is updated, and would ask for other pods from then on.
    pub operator_updated: u32,
    /// A report cannot be written.
    pub report_refused: u32,
}

pub struct World {
    pub random: ChaCha8Rng,
    pub hostility: Hostility,
    pub now: Timestamp,
    pub seen: Observed,
    pub stored: BTreeMap<TrialId, u32>,
    pub next_uid: u64,
    /// Uid of the run.
    pub uid: String,
    /// The nodes, whether or not an operator looks at them.
    pub nodes: Nodes,
    /// Uids of pods that stay forever.
    pub staying: BTreeSet<String>,
    /// What the scout of each variant will see.
    pub scouts: BTreeMap<String, Vec<Scouted>>,
}

impl World {
    pub fn new(run: &ValidatedRun, seed: u64, hostility: Hostility) -> Self {
        let tolerated = TaintSeen {
            key: "bench".into(),
            ..TaintSeen::default()
        };
        let node = NodeSeen {
            taints: vec![tolerated],
            ..common::node("bench-1")
        };
        let observed = Observed {
            nodes: vec![node.clone()],
            demands: common::demands(run),
            runs: vec![common::run_seen(run)],
            runtime_classes: ["spin".to_owned()].into(),
            ..Observed::default()
        };
        let nodes = Nodes::new(vec![node], 0);
        let random = ChaCha8Rng::seed_from_u64(seed);
        let now = Timestamp::UNIX_EPOCH;
        Self {
            random,
            hostility,
            now,
            seen: observed,
            stored: BTreeMap::new(),
            next_uid: 0,
            uid: run.uid.clone(),
            nodes,
            staying: BTreeSet::new(),
            scouts: BTreeMap::new(),
        }
    }

    pub fn happens(&mut self, percent: u32) -> bool {
        self.random.random_range(0..100) < percent
    }

    fn new_pod(&mut self, name: &str) -> PodSeen {
        self.next_uid += 1;
        PodSeen {
            name: name.to_owned(),
            uid: self.next_uid.to_string(),
            created: self.now,
            deleting: None,
            node: self.held(),
            likeness: Likeness::AsAsked,
            ip: None,
            state: PodState::Pending(None),
        }
    }
}

/// A pod into which something was injected.
pub fn altered() -> Likeness {
    Likeness::Altered("the container 'istio-proxy' was added".into())
}
