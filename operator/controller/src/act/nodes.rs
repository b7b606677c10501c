//! Claims on nodes. Every write carries the resource version that was read: of two competing writes
//! only one succeeds, and the other reads again.

use k8s_openapi::api::coordination::v1::Lease;
use kube::api::{DeleteParams, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use wasmbench_api::labels;
use wasmbench_core::build::leader::holder;
use wasmbench_core::build::{lease, names};
use wasmbench_core::observed::ObservedLease;
use wasmbench_core::scale::Scaled;
use wasmbench_core::validate::ValidatedRun;

use super::failed;
use crate::context::Context;
use crate::error::Error;
use crate::remove::release_lease;
use crate::scale;

fn api(context: &Context) -> Api<Lease> {
    Api::namespaced(context.client.clone(), &context.config.operator_namespace)
}

/// Claims `node` for `run`, unless another run was faster.
pub async fn claim(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    existing: Option<&ObservedLease>,
) -> Result<(), Error> {
    let namespace = &context.config.operator_namespace;
    let lease = lease::claim(run, node, existing, namespace, context.clock.now());
    let params = PostParams::default();
    let written = match existing {
        None => api(context).create(&params, &lease).await,
        Some(_) => {
            api(context)
                .replace(&names::node_lease(node), &params, &lease)
                .await
        }
    };
    match written {
        Err(kube::Error::Api(status)) if status.is_already_exists() || status.is_conflict() => {
            context.turns.retract(&run.uid, node, existing);
            Ok(())
        }
        other => other
            .map(drop)
            .map_err(failed(format!("claim node {node}"))),
    }
}

/// Releases `node`, if the run with this uid still holds it.
pub async fn release(context: &Context, run_uid: &str, node: &str) -> Result<(), Error> {
    let name = names::node_lease(node);
    let what = || failed(format!("give node {node} back"));
    match api(context).get_opt(&name).await.map_err(what())? {
        Some(lease) => release_lease(context, run_uid, lease).await,
        None => Ok(()),
    }
}

/// Notes in the claim of this run what it is about to scale up. Whether that was possible: somebody may have
/// changed the claim meanwhile.
pub async fn note(
    context: &Context,
    run_uid: &str,
    node: &str,
    scaled: &Scaled,
) -> Result<bool, Error> {
    let text = serde_json::to_string(scaled).unwrap_or_default();
    let Some(mut lease) = held(context, run_uid, node).await? else {
        return Ok(false);
    };
    lease.annotations_mut().insert(labels::SCALED.into(), text);
    replace(context, &lease).await
}

/// Removes that note, if the object is as before.
pub async fn forget_note(context: &Context, run_uid: &str, node: &str) -> Result<(), Error> {
    let Some(mut lease) = held(context, run_uid, node).await? else {
        return Ok(());
    };
    scale::bring_back(context, &lease).await?;
    lease.annotations_mut().remove(labels::SCALED);
    replace(context, &lease).await.map(drop)
}

/// The claim on `node`, if this run has it.
async fn held(context: &Context, run_uid: &str, node: &str) -> Result<Option<Lease>, Error> {
    let found = api(context).get_opt(&names::node_lease(node)).await;
    let found = found.map_err(failed(format!("read the claim on {node}")))?;
    Ok(found.filter(|lease| holder(lease) == Some(run_uid)))
}

/// Writes a claim as it was read and changed. Whether nobody else has changed it since.
async fn replace(context: &Context, lease: &Lease) -> Result<bool, Error> {
    let name = lease.name_any();
    match api(context)
        .replace(&name, &PostParams::default(), lease)
        .await
    {
        Ok(_) => Ok(true),
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(false),
        Err(error) => Err(failed(format!("write lease {name}"))(error)),
    }
}

/// Removes `lease`, unless a run has claimed it meanwhile.
pub async fn forget(context: &Context, lease: &ObservedLease) -> Result<(), Error> {
    let name = names::node_lease(&lease.node);
    let params = DeleteParams {
        preconditions: Some(Preconditions {
            resource_version: lease.resource_version.clone(),
            uid: None,
        }),
        ..DeleteParams::default()
    };
    match api(context).delete(&name, &params).await {
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
        other => other
            .map(drop)
            .map_err(failed(format!("remove lease {name}"))),
    }
}
