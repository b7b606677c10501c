//! An object that a run scales: what the claim on the node notes about it, what was seen of it, and
//! what is to be done so that it is as before. The note comes before the scale-up and goes after
//! nothing of it is left, so that whoever finds the claim can bring the object back.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use wasmbench_model::wire::record::TrialId;

use crate::scale::target::Target;

/// How late a write may take effect whose answer was lost: twice the time after which it is given up.
const LATE: SignedDuration = SignedDuration::from_secs(20);

/// What the claim on a node notes about an object before it is scaled up.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Scaled {
    /// The object, which is in the namespace of the run.
    pub target: Target,
    /// Its uid.
    pub uid: String,
    /// Selects its pods, and possibly others.
    pub selector: String,
    /// The trial that it makes pods for.
    pub trial: TrialId,
    /// The most pods that the trial asks for.
    pub most: u32,
    /// Its generation before it is scaled up.
    #[serde(default)]
    pub generation: Option<i64>,
    /// When it was noted.
    pub since: Timestamp,
}

/// What was seen of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedTarget {
    /// Its uid; `None` if it does not exist.
    pub uid: Option<String>,
    /// The version of it that was seen: a write against another one fails.
    pub resource_version: Option<String>,
    /// Counts the changes of what is wanted of it.
    pub generation: Option<i64>,
    /// Selects its pods, and possibly others.
    pub selector: String,
    /// How many pods it is to make.
    pub replicas: u32,
    /// Whether its owner offers it to runs.
    pub is_offered: bool,
    /// Whether somebody other than wasmbench was the last to set `replicas`.
    pub set_by_other: bool,
    /// Whether its controller has not acted on its last change yet.
    pub is_settling: bool,
    /// Why its pods cannot be found, and what to do.
    pub without_pods: Option<String>,
    /// What else scales or changes it, and what to do: an autoscaler, or a rollout; or a pod that should have gone
    /// before a run has noted it.
    pub obstacle: Option<String>,
    /// How many pods it still has, those that are ending included; of very many, some.
    pub pods: usize,
}

/// What is to be done about an object that a claim notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Return {
    /// It is to make no more pods.
    ScaleDown,
    /// Its last pods are ending.
    Wait,
    /// Nothing: nothing of it is left, or its owner has kept it. The note may go.
    Forget,
}

impl ObservedTarget {
    /// Why its owner has taken it back since it was noted; `None` if it is still the run's to scale.
    pub fn taken_back(&self, scaled: &Scaled) -> Option<String> {
        let target = &scaled.target;
        if self.uid.as_ref() != Some(&scaled.uid) {
            return Some(format!("{target} is gone"));
        }
        if !self.is_offered {
            return Some(format!("the annotation that offers {target} is gone"));
        }
        // Before it is scaled up, its owner was the last, too.
        let has_changed = self.replicas > 0 || self.generation != scaled.generation;
        let is_other = self.set_by_other && has_changed;
        (is_other || self.replicas > scaled.most).then(|| {
            format!(
                "somebody else has set the replicas of {target} to {}",
                self.replicas
            )
        })
    }

    /// Whether the run has scaled it up.
    pub fn is_up(&self, scaled: &Scaled) -> bool {
        self.replicas > 0 && self.taken_back(scaled).is_none()
    }

    /// What is to be done so that the note of it may go.
    pub fn to_return(&self, scaled: &Scaled, now: Timestamp) -> Return {
        if self.is_up(scaled) {
            return Return::ScaleDown;
        }
        let is_there = self.uid.as_ref() == Some(&scaled.uid);
        // Its owner has kept the pods.
        let is_kept = is_there && self.replicas > 0;
        // It was noted and, for all that is known, not scaled up: the write may still take effect.
        let may_come = is_there
            && self.generation == scaled.generation
            && now < scaled.since.saturating_add(LATE).unwrap_or(Timestamp::MAX);
        if !is_kept && (self.pods > 0 || may_come) {
            Return::Wait
        } else {
            Return::Forget
        }
    }

    /// Why it cannot be scaled by a run that has not noted it, and what to do.
    pub fn not_offered(&self, target: &Target, namespace: &str) -> Option<String> {
        if self.uid.is_none() {
            return Some(format!(
                "there is no {target} in the namespace {namespace}: create it, or correct scale.name"
            ));
        }
        // Nothing that its owner does would help.
        if let Some(why) = &self.without_pods {
            return Some(why.clone());
        }
        if !self.is_offered {
            return Some(format!(
                "{target} is not offered to runs, so it is left alone: make a copy of it for runs \
                 (kubectl wasmbench init --from), or have its owner set the annotation \
                 wasmbench.dev/offered to \"true\", and replicas to 0"
            ));
        }
        if self.replicas > 0 {
            return Some(format!(
                "{target} has {} replicas, so that somebody may be using it: set its replicas to 0",
                self.replicas
            ));
        }
        self.obstacle.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Long after the note.
    const LATER: Timestamp = Timestamp::MAX;

    fn scaled() -> Scaled {
        Scaled {
            target: Target {
                group: "apps".into(),
                version: "v1".into(),
                resource: "deployments".into(),
                kind: "Deployment".into(),
                name: "shop".into(),
            },
            uid: "1".into(),
            selector: "app=shop".into(),
            trial: "mine/hello/warm/b1".parse().unwrap(),
            most: 1,
            generation: Some(4),
            since: Timestamp::UNIX_EPOCH,
        }
    }

    /// One that makes so many pods because wasmbench has asked for them.
    fn up(replicas: u32) -> ObservedTarget {
        ObservedTarget {
            uid: Some("1".into()),
            generation: Some(5),
            replicas,
            is_offered: true,
            pods: replicas as usize,
            ..ObservedTarget::default()
        }
    }

    #[test]
    fn one_that_a_run_has_scaled_up_goes_back_to_0_and_is_forgotten_once_its_pods_are_gone() {
        assert_eq!(up(1).to_return(&scaled(), LATER), Return::ScaleDown);
        let ending = ObservedTarget { pods: 1, ..up(0) };
        assert_eq!(ending.to_return(&scaled(), LATER), Return::Wait);
        assert_eq!(up(0).to_return(&scaled(), LATER), Return::Forget);
    }

    #[test]
    fn one_that_its_owner_has_taken_back_is_not_touched() {
        let owners = ObservedTarget {
            set_by_other: true,
            ..up(1)
        };
        let withdrawn = ObservedTarget {
            is_offered: false,
            ..up(1)
        };
        let stopped = ObservedTarget {
            set_by_other: true,
            ..up(0)
        };
        for (observed, text) in [
            (owners, "somebody else"),
            (up(3), "to 3"),
            (withdrawn, "annotation"),
            (stopped, "to 0"),
        ] {
            let why = observed.taken_back(&scaled()).unwrap();
            assert!(why.contains(text), "{why}");
            assert_eq!(observed.to_return(&scaled(), LATER), Return::Forget);
        }
    }

    #[test]
    fn one_that_was_noted_and_not_scaled_up_yet_is_still_the_runs() {
        let noted = ObservedTarget {
            set_by_other: true,
            generation: Some(4),
            ..up(0)
        };
        assert_eq!(noted.taken_back(&scaled()), None);
        // The write that scales it up may still be on its way.
        assert_eq!(noted.to_return(&scaled(), scaled().since), Return::Wait);
        assert_eq!(noted.to_return(&scaled(), LATER), Return::Forget);
    }

    #[test]
    fn one_that_is_gone_is_forgotten_once_its_pods_are_gone_too() {
        for uid in [None, Some("2".to_owned())] {
            let gone = ObservedTarget { uid, ..up(0) };
            assert!(gone.taken_back(&scaled()).unwrap().contains("is gone"));
            assert_eq!(gone.to_return(&scaled(), LATER), Return::Forget);
            let ending = ObservedTarget { pods: 1, ..gone };
            assert_eq!(ending.to_return(&scaled(), LATER), Return::Wait);
        }
    }

    #[test]
    fn an_object_that_is_not_offered_or_in_use_is_refused_with_the_remedy() {
        let target = scaled().target;
        let refused = |observed: &ObservedTarget| observed.not_offered(&target, "team-a");
        assert_eq!(refused(&up(0)), None);
        let scaler = Some("an autoscaler scales it".to_owned());
        for (observed, text) in [
            (
                ObservedTarget::default(),
                "there is no deployments.apps/shop",
            ),
            (
                ObservedTarget {
                    is_offered: false,
                    ..up(0)
                },
                "wasmbench.dev/offered",
            ),
            (up(3), "replicas to 0"),
            (
                ObservedTarget {
                    without_pods: Some("it has no scale".to_owned()),
                    is_offered: false,
                    ..up(1)
                },
                "no scale",
            ),
            (
                ObservedTarget {
                    obstacle: scaler,
                    ..up(0)
                },
                "autoscaler",
            ),
        ] {
            let why = refused(&observed).unwrap();
            assert!(why.contains(text), "{why}");
        }
    }

    proptest! {
        /// Nothing that is not the run's is ever scaled down.
        #[test]
        fn only_what_is_offered_and_was_scaled_up_by_us_is_scaled_down(
            uid in prop::option::of(0..3_u8), replicas in 0..4_u32, is_offered: bool, set_by_other: bool,
            pods in 0..3_usize,
        ) {
            let uid = uid.map(|uid| uid.to_string());
            let observed = ObservedTarget { uid, replicas, is_offered, set_by_other, pods, ..ObservedTarget::default() };
            if observed.to_return(&scaled(), LATER) == Return::ScaleDown {
                prop_assert!(observed.uid == Some("1".to_owned()) && is_offered && !set_by_other);
                prop_assert!(replicas > 0 && replicas <= 1);
            }
        }
    }
}
