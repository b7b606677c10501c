//! Removes what runs have in the cluster, and gives their nodes back. What is already gone is as
//! good as removed.

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::leader::holder;

use crate::context::Context;
use crate::error::Error;
use crate::scale;

/// Wraps the error of a write.
pub fn failed(what: impl Into<String>) -> impl FnOnce(kube::Error) -> Error {
    let what = what.into();
    move |source| Error::Act { what, source }
}

/// Removes the pod with this name and uid.
pub async fn remove_pod(
    context: &Context,
    namespace: &str,
    name: &str,
    uid: &str,
) -> Result<(), Error> {
    let api: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let params = exactly(uid, DeleteParams::default());
    let deleted = api.delete(name, &params).await.map(drop);
    ignore_missing(deleted, "delete pod", name)
}

/// Removes the probe Job with this name and uid, and its pod. The pod is deleted here too: that stops
/// its load at once, while the Job's garbage collection takes a moment. A trial that is measured again
/// has a Job of the same name, whose pod is left alone.
pub async fn remove_probe(context: &Context, job: &str, uid: &str) -> Result<(), Error> {
    let namespace = &context.config.operator_namespace;
    let jobs: Api<Job> = Api::namespaced(context.client.clone(), namespace);
    let params = exactly(uid, DeleteParams::background());
    let deleted = jobs.delete(job, &params).await.map(drop);
    ignore_missing(deleted, "delete job", job)?;
    let of_job = format!("batch.kubernetes.io/controller-uid={uid}");
    remove_pods(context, namespace, &ListParams::default().labels(&of_job)).await
}

/// Removes all pods that this list contains.
pub async fn remove_pods(
    context: &Context,
    namespace: &str,
    params: &ListParams,
) -> Result<(), Error> {
    let api: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let found = api.list_metadata(params).await;
    let pods = found.map_err(failed("list pods that are left"))?.items;
    let left = pods
        .iter()
        .filter(|pod| pod.metadata.deletion_timestamp.is_none());
    for pod in left {
        let uid = pod.uid().unwrap_or_default();
        remove_pod(context, namespace, &pod.name_any(), &uid).await?;
    }
    Ok(())
}

/// Deletes the object with this uid only: a late deletion must not hit a new one of the same name.
fn exactly(uid: &str, params: DeleteParams) -> DeleteParams {
    DeleteParams {
        preconditions: Some(Preconditions {
            uid: Some(uid.to_owned()),
            resource_version: None,
        }),
        ..params
    }
}

fn ignore_missing(result: Result<(), kube::Error>, what: &str, name: &str) -> Result<(), Error> {
    match result {
        // A conflict: it is gone, and another one has its name.
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
        other => other.map_err(failed(format!("{what} {name}"))),
    }
}

/// Deletes exactly this run, not a new one of the same name.
pub async fn delete_run(context: &Context, run: &ObjectMeta) -> Result<(), Error> {
    let (name, namespace) = (run.name.as_deref(), run.namespace.as_deref());
    let (name, namespace) = (name.unwrap_or_default(), namespace.unwrap_or_default());
    let api: Api<BenchmarkRun> = Api::namespaced(context.client.clone(), namespace);
    let uid = run.uid.as_deref().unwrap_or_default();
    let params = exactly(uid, DeleteParams::background());
    let deleted = api.delete(name, &params).await.map(drop);
    ignore_missing(deleted, "delete run", name)
}

/// Clears the holder of `lease`, if the run with this uid still holds it, and only after the object that it
/// notes is as before.
pub async fn release_lease(
    context: &Context,
    run_uid: &str,
    mut lease: Lease,
) -> Result<(), Error> {
    if holder(&lease) != Some(run_uid) {
        return Ok(());
    }
    scale::bring_back(context, &lease).await?;
    lease.annotations_mut().remove(labels::SCALED);
    context.leave_queue(run_uid);
    if let Some(namespace) = lease.annotations().get(labels::RUN_NAMESPACE) {
        context.serve(namespace);
    }
    let spec = lease.spec.get_or_insert_default();
    spec.holder_identity = None;
    spec.acquire_time = None;
    let name = lease.metadata.name.clone().unwrap_or_default();
    let api: Api<Lease> =
        Api::namespaced(context.client.clone(), &context.config.operator_namespace);
    match api.replace(&name, &PostParams::default(), &lease).await {
        Err(kube::Error::Api(status)) if status.is_not_found() || status.is_conflict() => Ok(()),
        other => other
            .map(drop)
            .map_err(failed(format!("give lease {name} back"))),
    }
}
