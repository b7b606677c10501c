//! A Deployment that is there already: its controller, its owner, and what the operator does to it.

use rand::RngExt;
use wasmbench_core::observed::{ObservedPod, ObservedSubject, PodState};
use wasmbench_core::scale::{ObservedTarget, Return, Scaled, Target};
use wasmbench_model::wire::record::TrialId;

use super::World;

/// Seconds after which no write takes effect any more.
const LATEST: i64 = 15;

/// What the owner of an object may do to it in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Uses it.
    ScalesUp,
    /// Stops it.
    ScalesDown,
    /// Offers it no more.
    Withdraws,
    /// Deletes it.
    Deletes,
}

impl World {
    /// An object that its owner offers.
    pub fn offer(&mut self, target: &Target) {
        self.next_uid += 1;
        let observed = ObservedTarget {
            uid: Some(self.next_uid.to_string()),
            resource_version: Some("1".into()),
            generation: Some(1),
            selector: "app=shop".into(),
            is_offered: true,
            set_by_other: true,
            ..ObservedTarget::default()
        };
        self.observed.targets.insert(target.clone(), observed);
    }

    /// The object, if there is one.
    fn object(&self) -> Option<(Target, ObservedTarget)> {
        let (target, observed) = self.observed.targets.first_key_value()?;
        Some((target.clone(), observed.clone()))
    }

    fn noted(&self) -> Option<Scaled> {
        self.observed.scaled().map(|(scaled, _)| scaled.clone())
    }

    /// Changes the object as somebody does who has seen this version of it.
    pub fn change(&mut self, version: Option<&String>, by_other: bool, replicas: u32) {
        let Some((target, mut observed)) = self.object() else {
            return;
        };
        if observed.resource_version.as_ref() != version {
            return;
        }
        self.next_uid += 1;
        observed.resource_version = Some(self.next_uid.to_string());
        if observed.replicas != replicas {
            observed.generation = observed.generation.map(|one| one + 1);
            observed.set_by_other = by_other;
        }
        observed.replicas = replicas;
        self.observed.targets.insert(target, observed);
    }

    /// The claim is written, and the object after it. The operator may die in between.
    pub fn scale_up(&mut self, trial: &TrialId, target: &Target, found: &ObservedTarget) {
        self.note_target(trial, target, found, 1);
        if self.happens(self.hostility.operator_dies) {
            return;
        }
        if self.happens(self.hostility.objects.write_is_late) {
            self.late_scale.clone_from(&found.resource_version);
            return;
        }
        self.change(found.resource_version.as_ref(), false, 1);
    }

    /// The claim is written.
    pub fn note_target(
        &mut self,
        trial: &TrialId,
        target: &Target,
        found: &ObservedTarget,
        most: u32,
    ) {
        assert!(
            found.is_offered && found.replicas == 0,
            "{found:?} is in use"
        );
        let earlier = self.noted();
        let is_other = earlier.is_some_and(|one| one.trial != *trial);
        assert!(!is_other, "an earlier object is forgotten");
        let scaled = Scaled {
            target: target.clone(),
            uid: found.uid.clone().expect("it exists"),
            selector: found.selector.clone(),
            trial: trial.clone(),
            most,
            generation: found.generation,
            since: self.now,
        };
        let uid = self.uid.clone();
        let mut leases = self.observed.leases.iter_mut();
        let lease = leases.find(|lease| lease.holder.as_ref() == Some(&uid));
        lease.expect("a claim").scaled = Some(Box::new(scaled));
    }

    pub fn scale_down(&mut self, version: Option<&String>) {
        let (_, observed) = self.object().expect("an object");
        let is_current = observed.resource_version.as_ref() == version;
        let is_owners = observed.set_by_other || !observed.is_offered;
        assert!(!(is_current && is_owners), "{observed:?} is its owner's");
        self.change(version, false, 0);
    }

    /// The note goes with nothing of the object left, or with an owner who has kept it.
    pub fn forget_target(&mut self) {
        let Some((scaled, found)) = self.observed.scaled() else {
            return;
        };
        assert_eq!(
            found.to_return(scaled, self.now),
            Return::Forget,
            "{found:?}"
        );
        for lease in &mut self.observed.leases {
            lease.scaled = None;
        }
    }

    /// What the object's controller and its owner do.
    pub fn target_moves_on(&mut self) {
        let Some((target, _)) = self.object() else {
            return;
        };
        self.late_scale_takes_effect();
        if self.happens(self.owner_acts) {
            self.owner_acts(&target);
        }
        let Some((_, observed)) = self.object() else {
            return;
        };
        let wanted = if observed.uid.is_some() {
            observed.replicas as usize
        } else {
            0
        };
        self.target_pods.retain(|pod| pod.deleting.is_none());
        let now = self.now;
        for pod in self.target_pods.iter_mut().skip(wanted) {
            pod.deleting = Some(now);
        }
        if self.target_pods.len() < wanted && self.happens(80) {
            let pod = self.new_pod("shop");
            self.target_pods.push(pod);
        }
        for index in 0..self.target_pods.len() {
            self.target_pod_moves_on(index);
        }
        self.show_target(&target);
    }

    fn target_pod_moves_on(&mut self, index: usize) {
        let (starts, crashes) = (self.happens(80), self.happens(self.hostility.pod_crashes));
        let pod = &mut self.target_pods[index];
        match pod.state {
            PodState::Pending(_) if starts => {
                pod.state = PodState::Running;
                pod.ip = Some([10, 0, 0, 7].into());
            }
            PodState::Running if crashes => {
                pod.state = super::time::ended(1);
                self.cause("SubjectCrashed");
            }
            PodState::Pending(_) | PodState::Running | PodState::Ended { .. } => {}
        }
    }

    fn late_scale_takes_effect(&mut self) {
        let Some(version) = self.late_scale.clone() else {
            return;
        };
        let since = self.noted().map(|scaled| scaled.since);
        let is_too_late =
            since.is_none_or(|since| self.now.duration_since(since).as_secs() > LATEST);
        if is_too_late || self.happens(50) {
            self.late_scale = None;
            if !is_too_late {
                self.change(Some(&version), false, 1);
            }
        }
    }

    fn owner_acts(&mut self, target: &Target) {
        let all = [
            Owner::ScalesUp,
            Owner::ScalesDown,
            Owner::Withdraws,
            Owner::Deletes,
        ];
        let act = all[self.random.random_range(0..all.len())];
        self.owner_does(target, act);
    }

    /// The owner does this to the object.
    pub fn owner_does(&mut self, target: &Target, act: Owner) {
        self.causes
            .extend(["TakenBack", "NotOffered", "SubjectLost"]);
        let mut observed = self.observed.targets[target].clone();
        let version = observed.resource_version.clone();
        match act {
            Owner::ScalesUp => {
                self.change(version.as_ref(), true, 3);
                return;
            }
            Owner::ScalesDown => {
                self.change(version.as_ref(), true, 0);
                return;
            }
            Owner::Withdraws => observed.is_offered = false,
            Owner::Deletes => observed = ObservedTarget::default(),
        }
        self.next_uid += 1;
        observed.resource_version = Some(self.next_uid.to_string());
        self.observed.targets.insert(target.clone(), observed);
    }

    /// What the operator sees of the object's pods.
    fn show_target(&mut self, target: &Target) {
        let pods = self.target_pods.iter();
        let count = pods.clone().filter(|pod| pod.works()).count();
        let subjects: Vec<ObservedPod> = pods.cloned().collect();
        let mut observed = self.observed.targets[target].clone();
        observed.pods = count;
        self.observed.targets.insert(target.clone(), observed);
        let trial = self.noted().map(|scaled| scaled.trial);
        let many = subjects.len() > 1;
        let shown = subjects.into_iter().filter_map(|pod| {
            let likeness = if many {
                super::altered()
            } else {
                pod.likeness.clone()
            };
            Some(ObservedSubject {
                trial: trial.clone()?,
                pod: ObservedPod { likeness, ..pod },
            })
        });
        self.observed.scaled_subjects = shown.collect();
        if many {
            self.cause("SubjectAltered");
        }
    }
}
