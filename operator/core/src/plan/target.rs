//! Whether load may go to a pod: only if the pod is what was requested. The API server lets nobody
//! but the operator create such pods; but neither a webhook that mutates them nor anybody who
//! creates them where that rule is switched off may redirect the load.

use crate::build::subject_pod::on_host;
use crate::observed::{Observed, PodSeen};
use crate::plan::node;
use crate::validate::ValidatedRun;
use crate::wire::record::TrialId;

/// How the running `pod` differs from what `trial` requested, for people.
pub fn not_as_asked(
    run: &ValidatedRun,
    seen: &Observed,
    trial: &TrialId,
    pod: &PodSeen,
) -> Option<String> {
    let variant = run.variant(trial)?;
    let placement = run.spec.placement.clone().unwrap_or_default();
    let (on_host, node) = (on_host(&placement, variant), node::held(run, seen));
    let difference = if pod.node != node {
        format!(
            "it is on node {} instead of {}",
            pod.node.as_deref().unwrap_or("none"),
            node.as_deref().unwrap_or("none")
        )
    } else if pod.host_network != on_host {
        let (is, asked) = if on_host {
            ("its own", "the node's")
        } else {
            ("the node's", "its own")
        };
        format!("it has {is} network instead of {asked}")
    } else if pod.image != variant.subject.image {
        format!(
            "its image is {} instead of {}",
            pod.image, variant.subject.image
        )
    } else {
        return None;
    };
    Some(format!(
        "pod {} is not what was asked for, so that no load went to it: {difference}. A webhook that changes \
         pods must leave those of benchmarks alone",
        pod.name
    ))
}
