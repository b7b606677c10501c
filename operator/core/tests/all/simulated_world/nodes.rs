//! Faults of nodes, and what they do to the pods on them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use wasmbench_core::observed::{
    JobEnd, ObservedLease, ObservedNode, ObservedPod, ObservedProbe, ObservedRun, ObservedTaint,
    PodState, Standing, Waiting,
};
use wasmbench_core::plan::{Plan, Stage, relevant_nodes};
use wasmbench_core::queue::{Cluster, Turns, turns};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::wire::record::TrialId;

use super::time::ended;
use super::{Likeness, World};
use crate::common;

/// What may happen to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It takes no new pods.
    Cordon,
    /// The same, by a taint that nobody tolerates.
    Taint,
    /// It is cordoned, and its pods are evicted.
    Drain,
    /// Its kubelet is cut off, and nothing changes until it is back.
    CutOff,
    /// The same, and its pods have ended once it is back.
    Reboot,
    /// It is deleted with its pods.
    Deletion,
}

const FAULTS: [Fault; 6] = [
    Fault::Cordon,
    Fault::Taint,
    Fault::Drain,
    Fault::CutOff,
    Fault::Reboot,
    Fault::Deletion,
];

/// Half of the steps for which a run waits for a node that is gone: two such waits in a row may look
/// like one.
const LONG: u32 = 60;

impl Fault {
    /// Whether it hits pods when it begins.
    fn hits_pods_at_once(self) -> bool {
        matches!(self, Self::Drain | Self::Deletion)
    }
}

/// The nodes of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Nodes {
    /// Those that exist.
    pub there: Vec<ObservedNode>,
    /// The chance per step, in percent, that a node becomes faulty.
    pub chance: u32,
    /// The fault of each faulty node, and for how many more steps it lasts.
    faulty: BTreeMap<String, (Fault, u32)>,
    deleted: BTreeMap<String, ObservedNode>,
    /// Those that were once gone for long, whether or not they came back.
    pub long_gone: BTreeSet<String>,
}

impl Nodes {
    /// These nodes, each of which becomes faulty with this chance per step, in percent.
    pub fn new(there: Vec<ObservedNode>, chance: u32) -> Self {
        Self {
            there,
            chance,
            ..Self::default()
        }
    }

    /// One step: what begins and what ends now, by node.
    pub fn step(&mut self, random: &mut ChaCha8Rng, now: Timestamp) -> Vec<(String, Fault)> {
        let mut faults = vec![];
        for (name, (fault, left)) in std::mem::take(&mut self.faulty) {
            if left > 0 {
                self.faulty.insert(name, (fault, left - 1));
                continue;
            }
            self.recover(&name, fault, now);
            faults.extend((fault == Fault::Reboot).then_some((name, fault)));
        }
        if self.chance > 0 {
            let names = self.there.iter().map(|node| node.name.clone());
            for name in names.collect::<Vec<_>>() {
                let is_faulty = self.faulty.contains_key(&name);
                if is_faulty || random.random_range(0..100) >= self.chance {
                    continue;
                }
                let fault = FAULTS[random.random_range(0..FAULTS.len())];
                // At times for longer than a run waits for a node that is gone.
                let long = random.random_range(0..10) == 0;
                let steps = random.random_range(0..if long { 150 } else { 15 });
                // Whoever drains a node does something with it before it takes pods again.
                let steps = steps.max(if fault == Fault::Drain { 10 } else { 0 });
                self.inject(&name, fault, steps, now);
                faults.extend(fault.hits_pods_at_once().then_some((name, fault)));
            }
        }
        faults
    }

    /// Makes a node faulty for so many steps.
    pub fn inject(&mut self, name: &str, fault: Fault, steps: u32, now: Timestamp) {
        self.faulty.insert(name.into(), (fault, steps));
        let index = self.there.iter().position(|node| node.name == name);
        let node = &mut self.there[index.expect("it is there")];
        match fault {
            Fault::Cordon | Fault::Drain => node.cordoned = true,
            Fault::Taint => node.taints.push(ObservedTaint {
                key: "passing".into(),
                value: String::new(),
                effect: "NoSchedule".into(),
            }),
            Fault::CutOff | Fault::Reboot => {
                node.ready = false;
                node.ready_changed = Some(now);
            }
            Fault::Deletion => {
                let node = self.there.remove(index.expect("it is there"));
                self.deleted.insert(name.into(), node);
                if steps >= LONG {
                    self.long_gone.insert(name.into());
                }
            }
        }
    }

    fn recover(&mut self, name: &str, fault: Fault, now: Timestamp) {
        self.there.extend(self.deleted.remove(name));
        let mut there = self.there.iter_mut();
        let node = there.find(|node| node.name == name).expect("it is there");
        node.cordoned = false;
        node.taints.retain(|taint| taint.key != "passing");
        node.ready = true;
        if matches!(fault, Fault::CutOff | Fault::Reboot | Fault::Deletion) {
            node.ready_changed = Some(now);
        }
    }

    /// Ends the faults of all nodes with the next step.
    pub fn calm(&mut self) {
        self.chance = 0;
        for (_, left) in self.faulty.values_mut() {
            *left = 0;
        }
    }

    fn get(&self, name: &str) -> Option<&ObservedNode> {
        self.there.iter().find(|node| node.name == name)
    }

    /// Whether any node is faulty.
    pub fn is_faulty(&self) -> bool {
        !self.faulty.is_empty()
    }

    /// Whether a node takes pods of the runs of the fixtures.
    pub fn takes_pods(&self, name: &str) -> bool {
        let passing = |node: &ObservedNode| node.taints.iter().any(|taint| taint.key == "passing");
        self.get(name)
            .is_some_and(|node| node.ready && !node.cordoned && !passing(node))
    }

    /// Whether the pod's node was lost after the pod was deleted.
    pub fn was_lost(&self, pod: &ObservedPod) -> bool {
        let node = pod.node.as_ref().and_then(|name| self.get(name));
        node.is_some_and(|node| node.ready_changed > pod.deleting)
    }

    /// Whether a node's kubelet works.
    pub fn is_ready(&self, name: &str) -> bool {
        self.get(name).is_some_and(|node| node.ready)
    }
}

impl World {
    /// The node that the run holds.
    pub fn held(&self) -> Option<String> {
        let mut leases = self.observed.leases.iter();
        let mine = leases.find(|lease| lease.holder.as_ref() == Some(&self.uid));
        mine.map(|lease| lease.node.clone())
    }

    /// The node on which a trial is tried: the one that the run holds, or the one on which the trial
    /// has ended.
    pub fn node_of(&self, trial: &TrialId) -> Option<String> {
        let is_its = |other: &TrialId| other == trial;
        let probes = self.observed.probes.iter().filter(|one| is_its(&one.trial));
        let subjects = self
            .observed
            .subjects
            .iter()
            .filter(|one| is_its(&one.trial));
        let pods = probes.filter_map(|one| one.pod.as_ref());
        let mut pods = pods.chain(subjects.map(|one| &one.pod));
        self.held()
            .or_else(|| pods.find_map(|pod| pod.node.clone()))
    }

    /// What an operator learns of the nodes for its only run.
    pub fn look_at_nodes(&mut self) {
        let run = ObservedRun {
            uid: self.uid.clone(),
            name: "team-a/gatekeeper".into(),
            created: Timestamp::UNIX_EPOCH,
            standing: Standing::Active,
            demands: self.observed.demands.clone(),
            seconds: 60,
        };
        let cluster = Cluster {
            runs: vec![run],
            nodes: self.nodes.there.clone(),
            leases: self.observed.leases.clone(),
            ..Cluster::default()
        };
        self.take_turn(&turns(&cluster, self.now));
    }

    /// What it learns of them for a run with this turn.
    pub fn take_turn(&mut self, turns: &Turns) {
        self.observed.turn = turns.of.get(&self.uid).cloned();
        self.observed.gone.clone_from(&turns.gone);
        let relevant = relevant_nodes(&self.uid, &self.observed);
        let there = self.nodes.there.iter();
        let read = there.filter(|node| relevant.contains(&node.name));
        self.observed.nodes = read.cloned().collect();
    }

    /// What the status keeps of a plan.
    pub fn note(&mut self, plan: &Plan) {
        let now = self.now;
        let stalls = matches!(plan.stage, Stage::NoNode { .. });
        let since = self.observed.unmatched_since.unwrap_or(now);
        self.observed.unmatched_since = stalls.then_some(since);
    }

    /// Claims the node, unless its Lease is another one by now than the `existing` one.
    pub fn claim(&mut self, run: &ValidatedRun, node: &str, existing: Option<&ObservedLease>) {
        let mut leases = self.observed.leases.iter();
        if leases.find(|lease| lease.node == node) != existing {
            return;
        }
        assert!(self.nodes.takes_pods(node), "{node} takes no pods");
        self.claimed = Some(node.to_owned());
        self.observed.leases.retain(|lease| lease.node != node);
        self.observed
            .leases
            .push(common::lease(node, Some(run.uid.clone())));
    }

    pub fn release(&mut self, node: &str) {
        self.forget_target();
        let mut leases = self.observed.leases.iter_mut();
        let lease = leases.find(|lease| lease.node == node).expect("a Lease");
        assert_eq!(lease.holder.as_ref(), Some(&self.uid), "not its own");
        lease.holder = None;
    }

    pub fn forget(&mut self, lease: &ObservedLease) {
        assert_eq!(lease.holder, None, "somebody holds it");
        // The node may be back, and its claim may have changed.
        self.observed.leases.retain(|other| other != lease);
    }

    /// New pods go to a node that takes them.
    pub fn assert_node_takes_pods(&self) {
        let node = self.held().expect("a run with pods holds a node");
        assert!(self.nodes.takes_pods(&node), "{node} takes no pods");
    }

    /// Whether the pod cannot change, because its node keeps it from that. One that waits for its
    /// node reports so.
    pub fn is_kept(nodes: &Nodes, pod: &mut ObservedPod) -> bool {
        let node = pod.node.clone().unwrap_or_default();
        if !nodes.is_ready(&node) {
            return true;
        }
        let waits = |why: &Waiting| why.reason == "Unschedulable";
        match &pod.state {
            PodState::Pending(None) if !nodes.takes_pods(&node) => {
                pod.state = PodState::Pending(Some(Waiting {
                    reason: "Unschedulable".into(),
                    message: "1 node(s) were unschedulable".into(),
                }));
                true
            }
            PodState::Pending(Some(why)) if waits(why) => {
                if nodes.takes_pods(&node) {
                    pod.state = PodState::Pending(None);
                }
                true
            }
            PodState::Pending(_) | PodState::Running | PodState::Ended { .. } => false,
        }
    }

    /// Makes the node `bench-1` faulty for so many steps.
    pub fn inject(&mut self, fault: Fault, steps: u32) {
        self.nodes.inject("bench-1", fault, steps, self.now);
        if fault.hits_pods_at_once() {
            self.hit_pods("bench-1", fault);
        }
        self.look_at_nodes();
    }

    /// What a fault of a node does to the run's pods on it.
    pub fn hit_pods(&mut self, node: &str, fault: Fault) {
        let is_on = |pod: &ObservedPod| pod.node.as_deref() == Some(node);
        let observed = &mut self.observed;
        match fault {
            Fault::Cordon | Fault::Taint | Fault::CutOff => {}
            Fault::Drain | Fault::Deletion => {
                observed.subjects.retain(|one| !is_on(&one.pod));
                observed.cold_subjects.retain(|one| !is_on(&one.pod));
                observed.upstreams.retain(|pod| !is_on(pod));
                let mut lost = vec![];
                let probes = observed.probes.iter_mut();
                for probe in probes.filter(|one| one.pod.as_ref().is_some_and(is_on)) {
                    lose_pod(probe);
                    lost.extend(probe.is_lost().then(|| probe.trial.clone()));
                }
                for trial in lost {
                    self.result_is_lost(trial);
                }
            }
            Fault::Reboot => {
                let subjects = observed
                    .subjects
                    .iter_mut()
                    .chain(&mut observed.cold_subjects);
                let pods = subjects
                    .map(|one| &mut one.pod)
                    .chain(&mut observed.upstreams);
                let probes = observed
                    .probes
                    .iter_mut()
                    .filter_map(|one| one.pod.as_mut());
                for pod in pods.chain(probes).filter(|pod| is_on(pod)) {
                    if !matches!(pod.state, PodState::Ended { .. }) {
                        pod.state = ended(137);
                    }
                }
            }
        }
    }

    /// Whether the run has a probe on the node that may put load on it. One that appears late has no
    /// subject any more.
    pub fn loads(&self, node: &str) -> bool {
        let mut probes = self.observed.probes.iter();
        let probes = probes
            .by_ref()
            .filter(|one| !self.came_late.contains(&one.uid));
        let pods = probes.filter_map(|one| one.pod.as_ref());
        let mut on_it = pods.filter(|pod| pod.node.as_deref() == Some(node));
        on_it.any(|pod| pod.works() && pod.likeness == Likeness::Unaltered)
    }

    /// Whether pods of the run are left on a node that is not ready.
    pub fn has_unreachable_pods(&self) -> bool {
        let subjects = self
            .observed
            .subjects
            .iter()
            .chain(&self.observed.cold_subjects);
        let mut nodes = subjects.filter_map(|one| one.pod.node.as_deref());
        nodes.any(|node| !self.nodes.is_ready(node))
    }

    /// Whether anything of the run may still work, wherever it is.
    pub fn has_pods(&self) -> bool {
        let observed = &self.observed;
        let subjects = observed.subjects.iter().chain(&observed.cold_subjects);
        let mut pods = subjects.map(|one| &one.pod).chain(&observed.upstreams);
        !observed.probes.is_empty() || pods.any(ObservedPod::works)
    }
}

/// The pod of a probe is removed: one that had ended well has completed its Job.
fn lose_pod(probe: &mut ObservedProbe) {
    let pod = probe.pod.take();
    probe.end = Some(if pod.is_some_and(|pod| pod.state == ended(0)) {
        JobEnd::Completed
    } else {
        JobEnd::Failed("BackoffLimitExceeded".into())
    });
}
