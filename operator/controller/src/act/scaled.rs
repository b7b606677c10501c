//! Has an object that is there already make the pods of a trial.

use std::ops::ControlFlow;

use wasmbench_core::scale::{ObservedTarget, Scaled, Target};
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::TrialId;

use super::{nodes, refuse};
use crate::act::on_node::OnNode;
use crate::error::Error;
use crate::scale;

/// Has an object make the pod of `trial`, once the claim notes that: whoever finds the claim brings the
/// object back.
pub(super) async fn scale_up(
    here: OnNode<'_>,
    trial: &TrialId,
    target: &Target,
    found: &ObservedTarget,
) -> Result<ControlFlow<()>, Error> {
    let OnNode { context, run, .. } = here;
    if !note(here, trial, target, found, 1).await? {
        return Ok(ControlFlow::Continue(()));
    }
    let version = found.resource_version.as_deref();
    match scale::set(context, &run.namespace, target, version, 1).await {
        Err(error @ Error::ScaleRefused { .. }) => {
            let failure = Failure::new(FailureReason::PodRejected, error.to_string());
            refuse(here, trial, &failure).await
        }
        done => done.map(ControlFlow::Continue),
    }
}

/// Notes in the claim that an object is about to be scaled, to `most` pods at most. Whether that was possible.
pub(super) async fn note(
    here: OnNode<'_>,
    trial: &TrialId,
    target: &Target,
    found: &ObservedTarget,
    most: u32,
) -> Result<bool, Error> {
    let OnNode { context, run, node } = here;
    let Some(uid) = &found.uid else {
        return Ok(false);
    };
    let scaled = Scaled {
        target: target.clone(),
        uid: uid.clone(),
        selector: found.selector.clone(),
        trial: trial.clone(),
        most,
        generation: found.generation,
        since: context.clock.now(),
    };
    nodes::note(context, &run.uid, node, &scaled).await
}
