//! What the operator does in the simulated cluster, and what must hold when it does.

use wasmbench_core::observed::{ObservedPod, ObservedSubject, PodState};
use wasmbench_core::plan::Step;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered::Likeness;
use wasmbench_model::store::Ended;
use wasmbench_model::wire::record::TrialId;

use super::{World, altered};

impl World {
    /// Carries out one step as the controller would.
    pub fn carry_out(&mut self, run: &ValidatedRun, step: &Step) {
        if step.starts() {
            self.assert_node_is_free_of_others(step);
            self.assert_node_takes_pods();
            if let Step::ScaleUp {
                trial,
                target,
                found,
            } = step
            {
                self.scale_up(trial, target, found);
                return;
            }
            if self.happens(self.hostility.objects.write_is_late) {
                self.late.push(step.clone());
                return;
            }
        }
        match step {
            Step::ClaimNode { node, existing } => self.claim(run, node, existing.as_ref()),
            Step::ReleaseNode { node } => self.release(node),
            Step::ForgetNode { lease } => self.forget(lease),
            Step::Sweep(over) => self.observed.occupants.retain(|other| other.run != *over),
            Step::StartUpstream { trial, restarts } => self.start_upstream(trial, *restarts),
            Step::RemoveUpstream { pod, uid } => {
                let is_it = |other: &ObservedPod| other.name == *pod && other.uid == *uid;
                self.observed.upstreams.retain(|other| !is_it(other));
            }
            Step::DeploySubject(trial) => self.deploy(trial),
            Step::ScaleUp { .. } => panic!("carried out above"),
            Step::NoteTarget {
                trial,
                target,
                found,
                most,
            } => self.note_target(trial, target, found, *most),
            Step::ScaleDown {
                resource_version, ..
            } => self.scale_down(resource_version.as_ref()),
            Step::ForgetTarget => self.forget_target(),
            Step::LaunchProbe {
                trial,
                subject_uid,
                again,
                ..
            } => self.launch(trial, subject_uid, *again),
            Step::LaunchColdStart { trial, again } => self.launch_cold_start(trial, *again),
            Step::CollectRecord { trial, .. } => self.collect(trial),
            Step::RecordFailure { trial, failure, .. } => {
                self.store(trial, Ended::Failed(failure.reason.clone()));
            }
            Step::RecordSkipped(exclusion) => {
                for trial in &exclusion.trials {
                    let skipped = Ended::Skipped(exclusion.failure.reason.clone());
                    // The controller stops at an error.
                    if !self.store(trial, skipped) {
                        break;
                    }
                }
            }
            Step::RemoveSubject { pod, uid } => {
                let cold = self.observed.cold_subjects.iter_mut();
                let mut subjects = self.observed.subjects.iter_mut().chain(cold);
                let subject = subjects.find(|s| s.pod.name == *pod && s.pod.uid == *uid);
                let pod = &mut subject.expect("removed twice").pod;
                assert!(pod.deleting.is_none(), "removed twice");
                pod.deleting = Some(self.now);
                let uid = pod.uid.clone();
                if self.happens(self.hostility.pod_stays) {
                    self.staying.insert(uid);
                }
            }
            Step::RemoveProbe { job, .. } => {
                let mut late = self.observed.late.iter_mut();
                if let Some(late) = late.find(|late| late.job == *job) {
                    late.deleting = true;
                    return;
                }
                let probe = self.observed.probes.iter_mut().find(|p| p.job == *job);
                probe.expect("removed twice").deleting = true;
            }
            Step::Summarise => self.observed.report = !self.happens(self.hostility.report_refused),
        }
    }

    /// Stores what the probe of `trial` has found.
    fn collect(&mut self, trial: &TrialId) {
        assert_eq!(self.observed.late, [], "{trial} is believed beside it");
        let probe = self
            .observed
            .probes
            .iter()
            .find(|p| p.trial == *trial && p.pod.is_some())
            .expect("no probe");
        let pod = probe.pod.as_ref().expect("no pod");
        assert_eq!(
            pod.likeness,
            Likeness::Unaltered,
            "an altered probe is believed"
        );
        let ok = matches!(
            pod.state,
            PodState::Ended {
                exit_code: Some(0),
                ..
            }
        );
        let ended = if ok {
            Ended::Measured
        } else {
            self.cause("NeverListened");
            Ended::Failed("NeverListened".into())
        };
        if self.store(trial, ended) && ok && trial.is_scout() {
            let variant = &trial.cell.variant;
            let saw = self.scouts.get(variant).cloned().unwrap_or_default();
            self.observed.scouted.insert(variant.clone(), saw);
        }
    }

    fn deploy(&mut self, trial: &TrialId) {
        let mut subjects = self.observed.subjects.iter();
        assert!(
            subjects.all(|subject| subject.trial != *trial),
            "a second subject for {trial}"
        );
        self.create_subject(trial);
    }

    /// A subject appears, unless there is one of this name.
    pub fn create_subject(&mut self, trial: &TrialId) {
        let mut subjects = self.observed.subjects.iter();
        if subjects.any(|subject| subject.trial == *trial) {
            return;
        }
        let mut pod = self.new_pod(&trial.to_string());
        if self.happens(self.hostility.pod_altered) {
            pod.likeness = altered();
            self.cause("SubjectAltered");
        }
        let trial = trial.clone();
        self.observed.subjects.push(ObservedSubject { trial, pod });
    }

    fn launch(&mut self, trial: &TrialId, subject_uid: &str, again: bool) {
        let ended = |pod: &ObservedPod| matches!(pod.state, PodState::Ended { .. });
        let probes = self
            .observed
            .probes
            .iter()
            .filter_map(|probe| probe.pod.as_ref());
        assert!(probes.into_iter().all(ended), "two probes on one node");
        let made = self.observed.subjects.iter();
        let made = made.filter(|subject| !ended(&subject.pod));
        for subject in made.chain(&self.observed.scaled_subjects) {
            assert_eq!(
                subject.trial, *trial,
                "another subject lives beside {trial}"
            );
            assert_eq!(subject.pod.state, PodState::Running);
            assert_eq!(
                subject.pod.uid, subject_uid,
                "{trial} is pointed at another pod"
            );
            let is = &subject.pod.likeness;
            assert_eq!(*is, Likeness::Unaltered, "load on another pod");
        }
        let mut earlier = self.observed.probes.iter();
        let was_used = earlier.any(|one| one.subject_uid == subject_uid && one.is_lost());
        assert!(!was_used, "{trial} is measured again on the same pod");
        self.assert_unmeasured(trial);
        self.create_probe(trial, subject_uid, again);
    }

    fn launch_cold_start(&mut self, trial: &TrialId, again: bool) {
        let ended = |pod: &ObservedPod| matches!(pod.state, PodState::Ended { .. });
        let probes = self.observed.probes.iter();
        let mut probes = probes.filter_map(|probe| probe.pod.as_ref());
        assert!(probes.all(ended), "two probes on one node");
        let mut subjects = self.observed.subjects.iter();
        assert!(
            subjects.all(|subject| ended(&subject.pod)),
            "a subject lives beside {trial}"
        );
        let mut cold = self.observed.cold_subjects.iter();
        assert!(
            cold.all(|cold| cold.trial != *trial && !cold.pod.works()),
            "{trial} meets pods of its own names"
        );
        self.assert_unmeasured(trial);
        self.create_probe(trial, "", again);
    }

    fn assert_unmeasured(&self, trial: &TrialId) {
        assert!(
            !self.stored.contains_key(trial),
            "{trial} is measured twice"
        );
    }

    /// Stores a record, if there is room for it.
    pub fn store(&mut self, trial: &TrialId, ended: Ended) -> bool {
        if self.happens(self.hostility.objects.records_refused) {
            self.record_is_refused();
            return false;
        }
        self.refused = 0;
        assert!(
            !self.observed.records.contains_key(trial),
            "{trial} is recorded twice"
        );
        assert!(
            !self.observed.report,
            "{trial} is recorded after the report"
        );
        let node = self.node_of(trial).expect("a record comes from a node");
        *self.stored.entry(trial.clone()).or_default() += 1;
        self.observed.records.insert(trial.clone(), ended);
        let began = self.observed.demands.node.get_or_insert(node.clone());
        assert_eq!(*began, node, "two nodes in one run");
        true
    }
}
