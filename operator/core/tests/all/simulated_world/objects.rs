//! What goes wrong with the objects of a run: creations that are refused or take effect late, Jobs
//! without a pod, results that are removed, an echo server that ends, and what other runs have left.

use proptest::prelude::*;
use wasmbench_core::observed::{
    JobEnd, ObservedPod, ObservedProbe, ObservedSubject, Occupant, PodState, RunName,
};
use wasmbench_core::plan::Step;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::TrialId;

use super::time::ended;
use super::{World, altered};

/// Failures in a row after which the controller gives the node of a run back, if people have to do
/// something first.
const REFUSALS: u32 = 6;

/// Each is a chance in percent per event.
#[derive(Clone, Copy, Debug, Default)]
pub struct Objects {
    /// A probe's Job never gets a pod.
    pub job_without_pod: u32,
    /// The pod of a probe that ended well is removed before its log is read.
    pub result_removed: u32,
    /// The API server refuses the echo server.
    pub upstream_refused: u32,
    /// There is no room for a record.
    pub records_refused: u32,
    /// The echo server ends.
    pub upstream_ends: u32,
    /// A creation takes effect after the operator has given up waiting for it.
    pub write_is_late: u32,
    /// Such a creation takes longer still.
    pub lateness: u32,
    /// A run that is over has something on the node.
    pub leftovers: u32,
}

/// Any of these, but none so often that a run would not end.
pub fn objects() -> impl Strategy<Value = Objects> {
    let chances = (
        0u32..10,
        0u32..30,
        0u32..20,
        0u32..30,
        0u32..10,
        0u32..20,
        0u32..10,
    );
    chances.prop_map(|chances| Objects {
        job_without_pod: chances.0,
        result_removed: chances.1,
        upstream_refused: chances.2,
        records_refused: chances.3,
        upstream_ends: chances.4,
        write_is_late: chances.5,
        lateness: 50,
        leftovers: chances.6,
    })
}

/// A pod that a run of this uid has on the node. Only that called `other` can still measure.
pub fn occupant(run_uid: &str) -> Occupant {
    Occupant {
        node: "bench-1".into(),
        what: "pod team-b/busy".into(),
        run: RunName {
            uid: run_uid.into(),
            namespace: "team-b".into(),
            name: "other".into(),
        },
        lives: run_uid == "other",
    }
}

impl World {
    /// Nothing starts while another run, or an operator that was replaced, has something on the node.
    pub fn assert_node_is_free_of_others(&self, step: &Step) {
        let node = self.held().expect("a run with pods holds a node");
        let mut others = self.observed.occupants.iter();
        let other = others.find(|occupant| occupant.node == node);
        assert_eq!(other, None, "{step:?} while it is there");
        assert_eq!(self.observed.late, [], "{step:?} beside it");
    }

    pub fn start_upstream(&mut self, trial: &TrialId, restarts: usize) {
        assert!(self.observed.upstream().is_none(), "a second echo server");
        if self.happens(self.hostility.objects.upstream_refused) {
            self.cause("UpstreamUnavailable");
            let refused = Ended::Failed("UpstreamUnavailable".into());
            self.store(trial, refused);
            return;
        }
        self.create_upstream(restarts);
    }

    fn create_upstream(&mut self, restarts: usize) {
        let name = self.upstream_names[restarts].clone();
        if self.observed.upstreams.iter().any(|pod| pod.name == name) {
            return;
        }
        let mut pod = self.new_pod(&name);
        if self.happens(self.hostility.pod_altered) {
            pod.likeness = altered();
            self.cause("UpstreamUnavailable");
        }
        self.observed.upstreams.push(pod);
    }

    /// A probe's Job appears, unless there is one of this name.
    pub fn create_probe(&mut self, trial: &TrialId, subject_uid: &str, again: bool) {
        let job = format!("probe/{trial}{}", if again { "/again" } else { "" });
        if self.observed.probes.iter().any(|probe| probe.job == job) {
            return;
        }
        *self.launched.entry(trial.clone()).or_default() += 1;
        let mut pod = self.new_pod("probe");
        if self.happens(self.hostility.probe_altered) {
            pod.likeness = altered();
            self.cause("ProbeAltered");
        }
        let without = self.happens(self.hostility.objects.job_without_pod);
        if without {
            self.cause("ProbeNotStarted");
        }
        self.observed.probes.push(ObservedProbe {
            trial: trial.clone(),
            uid: format!("job-{}", pod.uid),
            job,
            created: self.now,
            subject_uid: subject_uid.to_owned(),
            deleting: false,
            end: None,
            pod: Some(pod).filter(|_| !without),
        });
    }

    fn create_late_probe(&mut self, trial: &TrialId, subject_uid: &str, again: bool) {
        let before = self.observed.probes.len();
        self.create_probe(trial, subject_uid, again);
        for probe in &self.observed.probes[before..] {
            self.came_late.insert(probe.uid.clone());
            // What it was created for may be gone by now.
            self.causes.extend(["SubjectLost", "UpstreamLost"]);
        }
    }

    pub fn upstreams_move_on(&mut self) {
        let works = self.observed.upstream().is_some();
        for index in 0..self.observed.upstreams.len() {
            let ends = self.happens(self.hostility.objects.upstream_ends);
            let pod = &mut self.observed.upstreams[index];
            if Self::is_kept(&self.nodes, pod) {
                continue;
            }
            match pod.state {
                PodState::Pending(_) => {
                    pod.state = PodState::Running;
                    pod.ip = Some([10, 0, 0, 9].into());
                }
                PodState::Running if ends => pod.state = ended(137),
                PodState::Running | PodState::Ended { .. } => {}
            }
        }
        if works && self.observed.upstream().is_none() {
            self.cause("UpstreamLost");
            if self.observed.upstreams.len() == self.upstream_names.len() - 1 {
                self.cause("UpstreamUnavailable");
            }
        }
    }

    pub fn late_writes_take_effect(&mut self) {
        for step in std::mem::take(&mut self.late) {
            if self.happens(self.hostility.objects.lateness) {
                self.late.push(step);
                continue;
            }
            match &step {
                Step::StartUpstream { restarts, .. } => self.create_upstream(*restarts),
                Step::DeploySubject(trial) => self.create_subject(trial),
                Step::LaunchProbe {
                    trial,
                    subject_uid,
                    again,
                    ..
                } => self.create_late_probe(trial, subject_uid, *again),
                Step::LaunchColdStart { trial, again } => {
                    self.create_late_probe(trial, "", *again);
                }
                Step::ClaimNode { .. }
                | Step::ReleaseNode { .. }
                | Step::ScaleUp { .. }
                | Step::NoteTarget { .. }
                | Step::ScaleDown { .. }
                | Step::ForgetTarget
                | Step::ForgetNode { .. }
                | Step::Sweep(_)
                | Step::RemoveUpstream { .. }
                | Step::CollectRecord { .. }
                | Step::RecordFailure { .. }
                | Step::RecordSkipped(_)
                | Step::RemoveSubject { .. }
                | Step::RemoveProbe { .. }
                | Step::Summarise => panic!("{step:?} creates nothing"),
            }
        }
    }

    /// What a run that is over has left does not go away by itself.
    pub fn others_come_and_go(&mut self) {
        if self.happens(self.hostility.objects.leftovers) && self.observed.occupants.is_empty() {
            self.observed.occupants.push(occupant("over"));
        }
    }

    pub fn ended_pods_are_removed(&mut self) {
        for index in 0..self.observed.probes.len() {
            let removed = self.happens(self.hostility.objects.result_removed);
            let probe = &mut self.observed.probes[index];
            let done = |pod: &ObservedPod| pod.state == ended(0);
            if removed && probe.pod.as_ref().is_some_and(done) {
                probe.pod = None;
                probe.end = Some(JobEnd::Completed);
                let trial = probe.trial.clone();
                self.result_is_lost(trial);
            }
        }
    }

    /// The controller tries again, and after a while gives the node back without what may use it.
    pub fn record_is_refused(&mut self) {
        self.refused += 1;
        if self.refused < REFUSALS {
            return;
        }
        let has_ended = |probe: &ObservedProbe| {
            let pod = probe.pod.as_ref();
            probe.end.is_some() || pod.is_some_and(|pod| !pod.works())
        };
        self.observed.probes.retain(has_ended);
        let rest = |subject: &ObservedSubject| !subject.pod.works();
        self.observed.subjects.retain(rest);
        self.observed.cold_subjects.retain(rest);
        self.observed.upstreams.retain(|pod| !pod.works());
        if let Some(node) = self.held() {
            self.release(&node);
        }
    }
}
