//! Events for the owner of an object that the operator cannot bring back: the run may be gone.

use k8s_openapi::api::core::v1::ObjectReference;
use kube::api::GroupVersionKind;
use kube::runtime::events::{Event, EventType};
use wasmbench_core::scale::Scaled;
use wasmbench_model::quote::shorten;

use crate::context::{Context, NOTE};

/// Publishes `why` an object is left as a run has scaled it. Events may get lost; nothing depends on them.
pub(super) async fn not_brought_back(
    context: &Context,
    namespace: &str,
    scaled: &Scaled,
    why: &str,
) {
    let target = &scaled.target;
    tracing::warn!(%target, namespace, why, "an object is not brought back");
    let note = format!(
        "a benchmark run has set the replicas of {target}, and they are not set back to 0: {why}. Unless you use it, set \
         them to 0"
    );
    let event = Event {
        type_: EventType::Warning,
        reason: "NotBroughtBack".into(),
        note: Some(shorten(&note, NOTE)),
        action: "ScaleDown".into(),
        secondary: None,
    };
    let kind = GroupVersionKind::gvk(&target.group, &target.version, &target.kind);
    let about = ObjectReference {
        api_version: Some(kind.api_version()),
        kind: Some(target.kind.clone()),
        namespace: Some(namespace.to_owned()),
        name: Some(target.name.clone()),
        uid: Some(scaled.uid.clone()),
        ..ObjectReference::default()
    };
    if let Err(error) = context.events.publish(&event, &about).await {
        tracing::debug!(error = %error, "an event could not be published");
    }
}
