//! What the kubelet, controllers and accidents do in the meantime.

use jiff::{SignedDuration, Timestamp};
use wasmbench_core::observed::{ObservedPod, ObservedSubject, PodState, Waiting};
use wasmbench_model::altered::Likeness;
use wasmbench_model::wire::record::Point;

use super::{Fault, World, altered};

impl World {
    /// Lets the kubelet and controllers make progress, and lets things go wrong.
    pub fn pass_time(&mut self) {
        self.now = later(self.now);
        let faults = self.nodes.step(&mut self.random, self.now);
        self.pass_time_after(&faults);
    }

    /// The same after these faults of nodes.
    pub fn pass_time_after(&mut self, faults: &[(String, Fault)]) {
        for (node, fault) in faults {
            self.hit_pods(node, *fault);
        }
        self.deleted_pods_end();
        self.upstreams_move_on();
        self.late_writes_take_effect();
        self.others_come_and_go();
        self.cold_subjects_come_and_go();
        self.target_moves_on();
        if self.happens(self.hostility.operator_updated) {
            for subject in &mut self.observed.subjects {
                subject.pod.likeness = Likeness::Outdated;
            }
        }
        for index in 0..self.observed.subjects.len() {
            self.subject_moves_on(index);
        }
        for index in 0..self.observed.probes.len() {
            self.probe_moves_on(index);
        }
        self.ended_pods_are_removed();
        if self.happens(self.hostility.pod_vanishes) {
            self.observed.subjects.pop();
            self.cause("SubjectLost");
        }
        if self.happens(self.hostility.pod_vanishes / 2) {
            self.observed.probes.pop();
        }
        self.look_at_nodes();
    }

    /// Deleted pods end, and go away unless something holds them.
    fn deleted_pods_end(&mut self) {
        let (staying, nodes) = (&self.staying, &self.nodes);
        let is_ready = |pod: &ObservedPod| nodes.is_ready(pod.node.as_deref().unwrap_or_default());
        self.observed.late.retain(|late| !late.deleting);
        // The kubelet must report that a probe's pod has ended.
        self.observed.probes.retain(|probe| {
            !probe.deleting || probe.pod.as_ref().is_some_and(|pod| !is_ready(pod))
        });
        for list in [
            &mut self.observed.subjects,
            &mut self.observed.cold_subjects,
        ] {
            list.retain(|subject| {
                let pod = &subject.pod;
                // One that had to wait for its node is seen ended before it goes.
                let is_going = pod.works() && nodes.was_lost(pod);
                let stays = !is_ready(pod) || is_going || staying.contains(&pod.uid);
                pod.deleting.is_none() || stays
            });
            let going = list.iter_mut().filter(|s| s.pod.deleting.is_some());
            for subject in going.filter(|subject| is_ready(&subject.pod)) {
                subject.pod.state = ended(137);
            }
        }
    }

    /// A running cold-start probe has pods; one that ends well has removed them, and one that does
    /// not leaves them behind.
    fn cold_subjects_come_and_go(&mut self) {
        for index in 0..self.observed.probes.len() {
            let probe = &self.observed.probes[index];
            let Point::ColdStart { .. } = probe.trial.cell.point else {
                continue;
            };
            let trial = probe.trial.clone();
            let state = probe.pod.as_ref().map(|pod| pod.state.clone());
            let node = self.held().unwrap_or_default();
            if state == Some(PodState::Running) && self.nodes.takes_pods(&node) && self.happens(50)
            {
                let name = format!("{trial}-{}", self.next_uid);
                let pod = self.new_pod(&name);
                self.observed
                    .cold_subjects
                    .push(ObservedSubject { trial, pod });
            } else if state == Some(ended(0)) {
                self.observed
                    .cold_subjects
                    .retain(|cold| cold.trial != trial);
            }
        }
    }

    fn subject_moves_on(&mut self, index: usize) {
        let crashes = self.happens(self.hostility.pod_crashes);
        let missing = self.happens(self.hostility.image_missing);
        let starts = self.happens(80);
        let pod = &mut self.observed.subjects[index].pod;
        if is_held(pod) || Self::is_kept(&self.nodes, pod) {
            return;
        }
        match pod.state {
            PodState::Pending(_) if missing => {
                let (reason, message) = ("ImagePullBackOff".into(), "no such image".into());
                pod.state = PodState::Pending(Some(Waiting { reason, message }));
            }
            PodState::Pending(None) if starts => {
                pod.state = PodState::Running;
                pod.ip = Some([10, 0, 0, 8].into());
            }
            PodState::Running if crashes => {
                pod.state = ended(139);
                self.cause("SubjectCrashed");
            }
            PodState::Pending(_) | PodState::Running | PodState::Ended { .. } => {}
        }
    }

    fn probe_moves_on(&mut self, index: usize) {
        let fails = self.happens(self.hostility.probe_fails);
        let goes_on = self.happens(70);
        let Some(pod) = &mut self.observed.probes[index].pod else {
            return;
        };
        if is_held(pod) || Self::is_kept(&self.nodes, pod) {
            return;
        }
        match pod.state {
            PodState::Pending(_) if goes_on => pod.state = PodState::Running,
            PodState::Running if goes_on => pod.state = ended(i32::from(fails)),
            PodState::Pending(_) | PodState::Running | PodState::Ended { .. } => {}
        }
    }
}

/// One step later.
pub fn later(now: Timestamp) -> Timestamp {
    now.checked_add(SignedDuration::from_secs(5))
        .expect("time goes on")
}

/// Whether the pod never starts: what was injected waits for something. Others start with it.
fn is_held(pod: &ObservedPod) -> bool {
    pod.likeness == altered() && pod.uid.ends_with(['1', '3', '5', '7', '9'])
}

pub fn ended(code: i32) -> PodState {
    PodState::Ended {
        exit_code: Some(code),
        reason: "Ended".into(),
        message: String::new(),
    }
}
