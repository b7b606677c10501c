//! What keeps a run from scaling an object that is there already. Pure.

use serde_json::Value;
use wasmbench_api::labels;
use wasmbench_api::run::Variant;
use wasmbench_core::scale::{ObservedTarget, Target, template_labels};

use crate::check::observed::{Answer, ObservedObject};
use crate::plan::obstacles::ObservedCluster;

/// An object that a run is to scale.
#[derive(Clone, Debug)]
pub struct Scalable {
    /// The object.
    pub object: Answer<ObservedObject>,
    /// Whether it is in the file of the run and not in the cluster.
    pub is_to_apply: bool,
    /// Whether the user may set how many pods it makes, which starting such a run takes.
    pub may_scale: Answer<bool>,
}

/// An object as it will be once it is created from its file.
pub fn as_written(object: &Value) -> ObservedObject {
    let replicas = object["spec"]["replicas"].as_u64().unwrap_or(1);
    let target = ObservedTarget {
        // The API server gives it one.
        uid: Some(String::new()),
        replicas: u32::try_from(replicas).unwrap_or(u32::MAX),
        is_offered: object["metadata"]["annotations"][labels::OFFERED] == "true",
        ..ObservedTarget::default()
    };
    ObservedObject {
        target,
        node_selector: template_labels(object),
    }
}

/// Why the user may not start a run that scales this.
pub(super) fn refused(variant: &Variant, cluster: &ObservedCluster) -> Option<String> {
    let scale = variant.scale.as_ref()?;
    let (name, namespace) = (&variant.name, &cluster.observed.namespace);
    let found = cluster.scaled.get(&cluster.target(scale)?)?;
    (found.may_scale == Ok(false)).then(|| {
        format!(
            "{name}: you may not patch {}/scale in namespace {namespace}, and who starts the run has to; the role edit has \
             that right",
            scale.resource
        )
    })
}

/// That the object has to be created before the run can scale it.
pub(super) fn to_apply(cluster: &ObservedCluster) -> impl Iterator<Item = String> {
    let of_file = cluster.scaled.iter().filter(|(_, found)| found.is_to_apply);
    of_file.map(|(target, _)| {
        format!(
            "{target} is in the file and not in the cluster: kubectl apply -f FILE creates it and the run; kubectl wasmbench start \
             creates the run alone"
        )
    })
}

/// Why this is left alone, in the words of the operator.
pub(super) fn not_offered(target: &Target, cluster: &ObservedCluster) -> Option<String> {
    let found = cluster.scaled.get(target)?.object.as_ref().ok()?;
    found
        .target
        .not_offered(target, &cluster.observed.namespace)
}

/// What the user's rights do not show of the objects.
pub(super) fn unknown(cluster: &ObservedCluster) -> impl Iterator<Item = String> {
    cluster.scaled.iter().flat_map(|(target, found)| {
        let object = found.object.as_ref().err();
        let object = object.map(|why| format!("{target} ({why})"));
        let right = found.may_scale.as_ref().err();
        let right = right.map(|why| format!("whether you may scale {target} ({why})"));
        object.into_iter().chain(right)
    })
}
