//! Objects that are there already, and whose scale makes the pods of a variant: reads one, its pods and what
//! scales it ([`mod@read`]), sets its replicas, and brings it back before its node is released ([`mod@back`]). Nothing
//! is decided here.

mod autoscalers;
mod back;
mod event;
mod owners;
mod read;

use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams};
use kube::{Api, Client};
use serde_json::json;
use wasmbench_api::labels;
use wasmbench_core::scale::Target;

use crate::context::Context;
use crate::error::{Error, refused};

pub use autoscalers::autoscalers;
pub use back::{bring_back, noted};
pub use read::read;

/// Those who set replicas for a run, as the API server notes them.
pub const SCALERS: [&str; 2] = [labels::OPERATOR, labels::PROBE_MANAGER];

/// Objects of this group, version and kind.
fn kind(
    client: &Client,
    namespace: &str,
    [group, version, kind, plural]: [&str; 4],
) -> Api<DynamicObject> {
    let gvk = GroupVersionKind::gvk(group, version, kind);
    let resource = ApiResource::from_gvk_with_plural(&gvk, plural);
    Api::namespaced_with(client.clone(), namespace, &resource)
}

fn api(client: &Client, namespace: &str, target: &Target) -> Api<DynamicObject> {
    let Target {
        group,
        version,
        resource,
        kind: name,
        ..
    } = target;
    kind(client, namespace, [group, version, name, resource])
}

/// Whether the administrator allows runs of this namespace to scale this object.
fn allows(context: &Context, namespace: &str, target: &Target) -> bool {
    let scale = &context.config.scale;
    let mut kinds = scale.resources.iter();
    scale.allows(namespace)
        && kinds.any(|kind| kind.group == target.group && kind.resource == target.resource)
}

/// `None` for what is not there, be it the object or its kind: of a kind that it does not serve, the API server
/// says so in plain text, which has a code and no reason.
fn if_there<T>(answer: kube::Result<T>) -> kube::Result<Option<T>> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sets how many pods an object makes, unless it has changed since this version of it. Whoever then looks
/// again sees what it is now.
pub async fn set(
    context: &Context,
    namespace: &str,
    target: &Target,
    resource_version: Option<&str>,
    replicas: u32,
) -> Result<(), Error> {
    // Without a version, whatever it has become would be scaled.
    let Some(version) = resource_version else {
        return Ok(());
    };
    let patch = json!({
        "metadata": { "resourceVersion": version },
        "spec": { "replicas": replicas },
    });
    let params = PatchParams {
        field_manager: Some(labels::OPERATOR.to_owned()),
        ..PatchParams::default()
    };
    let api = api(&context.client, namespace, target);
    let patched = api
        .patch_scale(&target.name, &params, &Patch::Merge(&patch))
        .await;
    match patched.map(drop) {
        Err(kube::Error::Api(status)) if status.is_conflict() || status.is_not_found() => Ok(()),
        other => other.map_err(|source| not_set(target, replicas, source)),
    }
}

fn not_set(target: &Target, replicas: u32, source: kube::Error) -> Error {
    match refused(&source) {
        Some(message) => Error::ScaleRefused {
            target: target.to_string(),
            replicas,
            message,
        },
        None => Error::Act {
            what: format!("set the replicas of {target} to {replicas}"),
            source,
        },
    }
}
