//! Wakes schedules when their runs have ended or are gone.

use futures::channel::mpsc::UnboundedSender;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource as _;
use kube::runtime::reflector::{ObjectRef, Store};
use wasmbench_api::owner::owners;
use wasmbench_api::{BenchmarkRun, BenchmarkSchedule};

use crate::context::{GuardedRun, ScheduleMeta};

/// Wakes schedules up.
#[derive(Clone)]
pub struct Wakes {
    sender: UnboundedSender<ObjectRef<ScheduleMeta>>,
    all: Store<ScheduleMeta>,
}

impl Wakes {
    /// Wakes the schedules in `all` through `sender`.
    pub fn new(sender: UnboundedSender<ObjectRef<ScheduleMeta>>, all: Store<ScheduleMeta>) -> Self {
        Self { sender, all }
    }

    /// Called when a run is new or has changed. Wakes its schedule only if the run has ended.
    pub fn run_observed(&self, run: &GuardedRun) {
        if run.0.as_ref().is_ok_and(BenchmarkRun::is_finished) {
            self.run_gone(run.meta());
        }
    }

    /// Called when a run is gone. Wakes its schedule.
    pub fn run_gone(&self, run: &ObjectMeta) {
        if let Some(schedule) = schedule_of(run) {
            self.wake(schedule);
        }
    }

    /// Wakes all schedules, as something may have gone unnoticed.
    pub fn all(&self) {
        for schedule in self.all.state() {
            self.wake(ObjectRef::from_obj(&*schedule));
        }
    }

    fn wake(&self, schedule: ObjectRef<ScheduleMeta>) {
        // Fails only when the controller has ended.
        let _ = self.sender.unbounded_send(schedule);
    }
}

fn schedule_of(run: &ObjectMeta) -> Option<ObjectRef<ScheduleMeta>> {
    let owner = owners::<BenchmarkSchedule>(run).next()?;
    Some(ObjectRef::new(&owner.name).within(run.namespace.as_deref()?))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn owned_by(kind: &str, api_version: &str) -> ObjectMeta {
        let meta: Value = json!({
            "name": "nightly-1", "namespace": "team-a",
            "ownerReferences": [{
                "kind": kind, "apiVersion": api_version, "name": "nightly", "uid": "1",
            }],
        });
        serde_json::from_value(meta).unwrap()
    }

    #[test]
    fn a_run_wakes_its_schedule_and_nobody_else() {
        let found = schedule_of(&owned_by("BenchmarkSchedule", "wasmbench.dev/v1alpha1")).unwrap();
        let place = (found.name.as_str(), found.namespace.as_deref());
        assert_eq!(place, ("nightly", Some("team-a")));
        for (kind, version) in [
            ("CronJob", "batch/v1"),
            ("BenchmarkSchedule", "example.com/v1"),
        ] {
            assert!(
                schedule_of(&owned_by(kind, version)).is_none(),
                "{kind} {version}"
            );
        }
        assert!(schedule_of(&ObjectMeta::default()).is_none());
    }
}
