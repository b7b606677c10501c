//! Whether pods are the desired ones: no load goes to an altered one, and no altered probe is
//! believed. The API server lets nobody but the operator create such pods; but neither a webhook
//! that changes them nor anybody who creates them where that rule is switched off may redirect the
//! load or have something else measured as the service.

use wasmbench_model::altered::Likeness;
use wasmbench_model::wire::failure::{Failure, FailureReason};

use crate::observed::ObservedPod;

/// Why no load may go to a subject.
pub fn unfit(pod: &ObservedPod) -> Option<Failure> {
    match &pod.likeness {
        Likeness::Unaltered | Likeness::Altered(_) => altered(pod, FailureReason::SubjectAltered),
        Likeness::Outdated => {
            let message = format!(
                "pod {} was created before the operator was updated or configured otherwise, and \
                 is not the one that the trial needs now",
                pod.name
            );
            Some(Failure::new(FailureReason::SubjectLost, message))
        }
    }
}

/// A failure for this `reason` if the pod was changed on its way.
pub fn altered(pod: &ObservedPod, reason: FailureReason) -> Option<Failure> {
    match &pod.likeness {
        Likeness::Altered(message) => Some(Failure::new(reason, message)),
        Likeness::Unaltered | Likeness::Outdated => None,
    }
}
