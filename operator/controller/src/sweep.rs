//! Removes what a run leaves in the operator's namespace when it is deleted. Objects there cannot
//! be owned by a run in another namespace, and a finalizer would block deletion while the operator
//! is down; so they carry the run's uid, and are swept, at start and on deletion, when the run is
//! gone.

use std::collections::BTreeSet;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::{component_selector, selector};

use crate::act;
use crate::context::Context;
use crate::error::Error;

fn failed(what: &'static str) -> impl Fn(kube::Error) -> Error {
    move |source| Error::Observe { what, source }
}

fn jobs(context: &Context) -> Api<Job> {
    Api::namespaced(context.client.clone(), &context.config.operator_namespace)
}

fn leases(context: &Context) -> Api<Lease> {
    Api::namespaced(context.client.clone(), &context.config.operator_namespace)
}

fn lease_params() -> ListParams {
    let wanted = format!("{}={}", labels::COMPONENT, labels::COMPONENT_NODE_LEASE);
    ListParams::default().labels(&wanted)
}

/// Removes everything of the run with this uid from the operator's namespace.
pub async fn run_is_gone(context: &Context, run_uid: &str) -> Result<(), Error> {
    clear(context, run_uid).await?;
    context.backoff.succeeded(run_uid);
    Ok(())
}

/// Releases the node of a run that cannot continue, after removing the run's pods. An interrupted
/// trial is measured again if the run ever continues.
pub async fn give_way(context: &Context, run: &BenchmarkRun) -> Result<(), Error> {
    let (Some(uid), Some(namespace)) = (&run.metadata.uid, &run.metadata.namespace) else {
        return Ok(());
    };
    act::remove_pods(context, namespace, &selector(uid)).await?;
    clear(context, uid).await
}

async fn clear(context: &Context, run_uid: &str) -> Result<(), Error> {
    context.leave_queue(run_uid);
    let probes = component_selector(run_uid, labels::COMPONENT_PROBE);
    let params = ListParams::default().labels(&probes);
    let left = jobs(context)
        .list_metadata(&params)
        .await
        .map_err(failed("probe jobs"))?;
    for job in left.items {
        act::remove_probe(context, &job.name_any()).await?;
    }
    let held = leases(context)
        .list(&lease_params())
        .await
        .map_err(failed("claims on nodes"))?;
    for lease in held.items {
        act::release_lease(context, run_uid, lease).await?;
    }
    Ok(())
}

/// Removes what belongs to runs that are gone. For the start and after a relist, when deletions may
/// have gone unnoticed.
pub async fn orphans(context: &Context) -> Result<(), Error> {
    let probes = format!("{}={}", labels::COMPONENT, labels::COMPONENT_PROBE);
    let params = ListParams::default().labels(&probes);
    let jobs = jobs(context)
        .list_metadata(&params)
        .await
        .map_err(failed("probe jobs"))?;
    let leases = leases(context)
        .list(&lease_params())
        .await
        .map_err(failed("claims on nodes"))?;
    let owners = jobs
        .items
        .iter()
        .map(|job| (job.labels(), job.annotations()));
    // A Lease that was taken over carries the labels of its last holder.
    let holders = leases
        .items
        .iter()
        .map(|lease| (lease.labels(), lease.annotations()));
    let mut runs = BTreeSet::new();
    for (labels, annotations) in owners.chain(holders) {
        let uid = labels.get(labels::RUN_UID);
        let namespace = annotations.get(labels::RUN_NAMESPACE);
        let name = annotations.get(labels::RUN_NAME);
        if let (Some(uid), Some(namespace), Some(name)) = (uid, namespace, name) {
            runs.insert((uid.clone(), namespace.clone(), name.clone()));
        }
    }
    for (uid, namespace, name) in runs {
        if !lives(context, &uid, &namespace, &name).await? {
            tracing::info!(
                uid,
                namespace,
                name,
                "sweeping what a deleted run left behind"
            );
            run_is_gone(context, &uid).await?;
        }
    }
    Ok(())
}

/// Whether this run still exists, according to the API server.
pub async fn lives(
    context: &Context,
    uid: &str,
    namespace: &str,
    name: &str,
) -> Result<bool, Error> {
    let api: Api<BenchmarkRun> = Api::namespaced(context.client.clone(), namespace);
    let found = api.get_metadata_opt(name).await.map_err(failed("a run"))?;
    Ok(found.is_some_and(|run| run.metadata.uid.as_deref() == Some(uid)))
}
