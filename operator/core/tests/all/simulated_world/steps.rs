//! What the operator does in the simulated cluster, and what must hold when it does.

use wasmbench_core::observed::{Likeness, PodSeen, PodState, ProbeSeen, SubjectSeen};
use wasmbench_core::plan::Step;
use wasmbench_core::store::Ended;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_core::wire::record::TrialId;

use super::{World, altered};

impl World {
    /// Carries out one step as the controller would.
    pub fn carry_out(&mut self, run: &ValidatedRun, step: &Step) {
        match step {
            Step::ClaimNode { node, .. } => self.claim(run, node),
            Step::ReleaseNode { node } => self.release(node),
            Step::ForgetNode { lease } => self.forget(lease),
            Step::StartUpstream => {
                assert!(self.seen.upstream.is_none(), "a second echo server");
                self.assert_node_takes_pods();
                let mut pod = self.new_pod("echo");
                if self.happens(self.hostility.pod_altered) {
                    pod.likeness = altered();
                }
                self.seen.upstream = Some(pod);
            }
            Step::RemoveUpstream { .. } => self.seen.upstream = None,
            Step::DeploySubject(trial) => self.deploy(trial),
            Step::LaunchProbe {
                trial, subject_uid, ..
            } => self.launch(trial, subject_uid),
            Step::LaunchColdStart(trial) => self.launch_cold_start(trial),
            Step::CollectRecord { trial, .. } => {
                let probe = self
                    .seen
                    .probes
                    .iter()
                    .find(|p| p.trial == *trial)
                    .expect("no probe");
                let pod = probe.pod.as_ref().expect("no pod");
                assert_eq!(
                    pod.likeness,
                    Likeness::AsAsked,
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
                    Ended::Failed("NeverListened".into())
                };
                if ok && trial.is_scout() {
                    let variant = &trial.cell.variant;
                    let saw = self.scouts.get(variant).cloned().unwrap_or_default();
                    self.seen.scouted.insert(variant.clone(), saw);
                }
                self.store(trial, ended);
            }
            Step::RecordFailure { trial, failure, .. } => {
                self.store(trial, Ended::Failed(failure.reason.clone()));
            }
            Step::RecordSkipped(exclusion) => {
                for trial in &exclusion.trials {
                    self.store(trial, Ended::Skipped(exclusion.failure.reason.clone()));
                }
            }
            Step::RemoveSubject { pod } => {
                let cold = self.seen.cold_subjects.iter_mut();
                let mut subjects = self.seen.subjects.iter_mut().chain(cold);
                let subject = subjects.find(|s| s.pod.name == *pod);
                let pod = &mut subject.expect("removed twice").pod;
                assert!(pod.deleting.is_none(), "removed twice");
                pod.deleting = Some(self.now);
                let uid = pod.uid.clone();
                if self.happens(self.hostility.pod_stays) {
                    self.staying.insert(uid);
                }
            }
            Step::RemoveProbe { job } => {
                let probe = self.seen.probes.iter_mut().find(|p| p.job == *job);
                probe.expect("removed twice").deleting = true;
            }
            Step::Summarise => self.seen.report = !self.happens(self.hostility.report_refused),
        }
    }

    fn deploy(&mut self, trial: &TrialId) {
        let mut subjects = self.seen.subjects.iter();
        assert!(
            subjects.all(|subject| subject.trial != *trial),
            "a second subject for {trial}"
        );
        self.assert_node_takes_pods();
        let mut pod = self.new_pod(&trial.to_string());
        if self.happens(self.hostility.pod_altered) {
            pod.likeness = altered();
        }
        let trial = trial.clone();
        self.seen.subjects.push(SubjectSeen { trial, pod });
    }

    fn launch(&mut self, trial: &TrialId, subject_uid: &str) {
        let ended = |pod: &PodSeen| matches!(pod.state, PodState::Ended { .. });
        let probes = self
            .seen
            .probes
            .iter()
            .filter_map(|probe| probe.pod.as_ref());
        assert!(probes.into_iter().all(ended), "two probes on one node");
        for subject in self
            .seen
            .subjects
            .iter()
            .filter(|subject| !ended(&subject.pod))
        {
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
            assert_eq!(*is, Likeness::AsAsked, "load on another pod");
        }
        assert!(
            !self.stored.contains_key(trial),
            "{trial} is measured twice"
        );
        let pod = Some(self.new_probe());
        self.seen.probes.push(ProbeSeen {
            trial: trial.clone(),
            job: format!("probe/{trial}"),
            created: self.now,
            subject_uid: subject_uid.to_owned(),
            deleting: false,
            failed: None,
            pod,
        });
    }

    fn launch_cold_start(&mut self, trial: &TrialId) {
        let ended = |pod: &PodSeen| matches!(pod.state, PodState::Ended { .. });
        let probes = self.seen.probes.iter();
        let mut probes = probes.filter_map(|probe| probe.pod.as_ref());
        assert!(probes.all(ended), "two probes on one node");
        let mut subjects = self.seen.subjects.iter();
        assert!(
            subjects.all(|subject| ended(&subject.pod)),
            "a subject lives beside {trial}"
        );
        let mut cold = self.seen.cold_subjects.iter();
        assert!(
            cold.all(|cold| cold.trial != *trial && !cold.pod.works()),
            "{trial} meets pods of its own names"
        );
        assert!(
            !self.stored.contains_key(trial),
            "{trial} is measured twice"
        );
        let pod = Some(self.new_probe());
        self.seen.probes.push(ProbeSeen {
            trial: trial.clone(),
            job: format!("probe/{trial}"),
            created: self.now,
            subject_uid: String::new(),
            deleting: false,
            failed: None,
            pod,
        });
    }

    fn new_probe(&mut self) -> PodSeen {
        self.assert_node_takes_pods();
        let mut pod = self.new_pod("probe");
        if self.happens(self.hostility.probe_altered) {
            pod.likeness = altered();
        }
        pod
    }

    fn store(&mut self, trial: &TrialId, ended: Ended) {
        assert!(
            !self.seen.records.contains_key(trial),
            "{trial} is recorded twice"
        );
        assert!(!self.seen.report, "{trial} is recorded after the report");
        *self.stored.entry(trial.clone()).or_default() += 1;
        self.seen.records.insert(trial.clone(), ended);
        let node = self.held().expect("a record comes from a node");
        let began = self.seen.demands.node.get_or_insert(node.clone());
        assert_eq!(*began, node, "two nodes in one run");
    }
}
