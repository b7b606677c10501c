//! Pods that were not up in time: what was last observed of them.

use wasmbench_model::wire::cold_start::ColdStep;
use wasmbench_model::wire::failure::{Failure, FailureReason};

use super::failure;
use super::sample::{Course, Pods, QUOTA_PAUSE};
use super::timeline::Timeline;
use super::trouble::{is_unschedulable, waits_for};
use crate::clock::unix_nanoseconds;

impl Course<'_> {
    /// Gives up the pods without an answer. A pod that found no room never started.
    pub(super) fn give_up(&self, pods: &mut Pods) -> Result<(), Failure> {
        for index in 0..pods.timelines.len() {
            if pods.timelines[index].has_answered() {
                continue;
            }
            let failure = self.too_late(pods, index);
            if failure.reason == FailureReason::Unschedulable {
                return Err(failure);
            }
            pods.timelines[index].gave_up(unix_nanoseconds(), failure);
        }
        Ok(())
    }

    fn too_late(&self, pods: &Pods, index: usize) -> Failure {
        let latest = pods.latest[index].as_deref();
        let unheard = format!(" (nothing was heard of it; {})", self.interrupted);
        let is_foreign = self.request.scaled.is_some();
        let waits = latest.map_or(unheard, |pod| waits_for(pod, is_foreign));
        let reason = if pods.timelines[index].address().is_some() {
            FailureReason::NeverListened
        } else if latest.is_some_and(is_unschedulable) {
            FailureReason::Unschedulable
        } else {
            FailureReason::StartTimedOut
        };
        failure(
            reason,
            format!(
                "a pod did not answer correctly within {} s{waits}: raise \
                 spec.sweeps.coldStart.timeoutSeconds, lower concurrency, or see 'kubectl describe pod'",
                self.request.timeout_seconds
            ),
        )
    }
}

impl Pods {
    /// Why the first of the pods that were given up was.
    pub fn late(&self) -> Option<Failure> {
        self.timelines.iter().find_map(Timeline::late).cloned()
    }

    /// Returns an error if a pod was given up that was created late: it had less time than others,
    /// and may not have taken longer than they did.
    pub(super) fn had_their_time(&self) -> Result<(), Failure> {
        let pause = i64::try_from(QUOTA_PAUSE.as_nanos()).unwrap_or(i64::MAX);
        for pod in &self.timelines {
            let created = pod.at(ColdStep::CreateSent).unwrap_or_default();
            if let Some(late) = pod.late().filter(|_| created >= pause) {
                let message = format!(
                    "pod {} was created {} ms after its time began, because the namespace's quota was spent or the \
                     node's port taken, and was not up in time: {}",
                    pod.name(),
                    created / 1_000_000,
                    late.message
                );
                return Err(failure(late.reason.clone(), message));
            }
        }
        Ok(())
    }
}
