//! What the operator does in the simulated cluster, and what must hold when it does.

use wasmbench_core::observed::{LeaseSeen, PodSeen, PodState, ProbeSeen, SubjectSeen};
use wasmbench_core::plan::Step;
use wasmbench_core::store::Ended;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_core::wire::record::TrialId;

use super::World;

impl World {
    /// Carries out one step as the controller would.
    pub fn carry_out(&mut self, run: &ValidatedRun, step: &Step) {
        match step {
            Step::ClaimNode { node, .. } => {
                let holder = Some(run.uid.clone());
                self.seen.leases = vec![LeaseSeen {
                    node: node.clone(),
                    holder,
                    resource_version: None,
                }];
            }
            Step::ReleaseNode { .. } => self.seen.leases.clear(),
            Step::StartUpstream => {
                assert!(self.seen.upstream.is_none(), "a second echo server");
                self.seen.upstream = Some(self.new_pod("echo"));
            }
            Step::RemoveUpstream { .. } => self.seen.upstream = None,
            Step::DeploySubject(trial) => self.deploy(run, trial),
            Step::LaunchProbe {
                trial,
                subject_uid,
                partner,
                ..
            } => {
                assert_eq!(partner.is_some(), run.partner(trial).is_some(), "{trial}");
                let partner = partner.as_ref().map_or("", |pod| pod.uid.as_str());
                self.launch(trial, subject_uid, partner);
            }
            Step::LaunchColdStart(trial) => self.launch_cold_start(trial),
            Step::CollectRecord { trial, .. } => {
                let probe = self
                    .seen
                    .probes
                    .iter()
                    .find(|p| p.trial == *trial)
                    .expect("no probe");
                let pod = probe.pod.as_ref().expect("no pod");
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
                subject.expect("removed twice").pod.deleting = true;
            }
            Step::RemoveProbe { job } => {
                let probe = self.seen.probes.iter_mut().find(|p| p.job == *job);
                probe.expect("removed twice").deleting = true;
            }
            Step::Summarise => self.seen.report = true,
        }
    }

    fn deploy(&mut self, run: &ValidatedRun, trial: &TrialId) {
        let is_there = |world: &Self, is_partner: bool| {
            let mut subjects = world.seen.subjects.iter();
            subjects.any(|one| one.trial == *trial && one.is_partner == is_partner)
        };
        let needs_partner = run.partner(trial).is_some();
        assert!(
            !is_there(self, false) || (needs_partner && !is_there(self, true)),
            "a second subject for {trial}"
        );
        for is_partner in [false, true] {
            if is_there(self, is_partner) || (is_partner && !needs_partner) {
                continue;
            }
            let pod = self.new_pod(&format!("{trial}-{is_partner}"));
            self.seen.subjects.push(SubjectSeen {
                trial: trial.clone(),
                is_partner,
                pod,
            });
            // The operator may die between the pods of a duet.
            if self.happens(self.hostility.operator_dies) {
                return;
            }
        }
    }

    fn launch(&mut self, trial: &TrialId, subject_uid: &str, partner_uid: &str) {
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
            let uid = if subject.is_partner {
                partner_uid
            } else {
                subject_uid
            };
            assert_eq!(subject.pod.uid, uid, "{trial} is pointed at another pod");
        }
        assert!(
            !self.stored.contains_key(trial),
            "{trial} is measured twice"
        );
        let pod = Some(self.new_pod("probe"));
        self.seen.probes.push(ProbeSeen {
            trial: trial.clone(),
            job: format!("probe/{trial}"),
            subject_uid: subject_uid.to_owned(),
            partner_uid: partner_uid.to_owned(),
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
        assert!(
            self.seen.cold_subjects.is_empty(),
            "{trial} meets pods of its own names"
        );
        assert!(
            !self.stored.contains_key(trial),
            "{trial} is measured twice"
        );
        let pod = Some(self.new_pod("probe"));
        self.seen.probes.push(ProbeSeen {
            trial: trial.clone(),
            job: format!("probe/{trial}"),
            subject_uid: String::new(),
            partner_uid: String::new(),
            deleting: false,
            failed: None,
            pod,
        });
    }

    fn store(&mut self, trial: &TrialId, ended: Ended) {
        assert!(
            !self.seen.records.contains_key(trial),
            "{trial} is recorded twice"
        );
        *self.stored.entry(trial.clone()).or_default() += 1;
        self.seen.records.insert(trial.clone(), ended);
        self.seen.recorded_node = Some("bench-1".into());
    }
}
