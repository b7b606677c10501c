//! Removes what a run leaves on its node when it is deleted, refused or stuck. Objects in the
//! operator's namespace cannot be owned by a run in another one, a deletion may orphan the others,
//! and a finalizer would block deletion while the operator is down; so all carry the run's uid, and
//! are swept, at start and on deletion, when the run is gone.

use std::collections::BTreeSet;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{ListParams, ObjectMeta};
use kube::{Api, ResourceExt};
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::leader::holder;
use wasmbench_core::build::{component_selector, selector};
use wasmbench_core::observed::RunName;

use crate::context::{Context, meta_of};
use crate::error::Error;
use crate::namespaces;
use crate::observe::end_of;
use crate::pages::NOT_ENDED;
use crate::remove::{release_lease, remove_pods, remove_probe};
use crate::scale;

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

/// The run that this metadata is of.
pub fn run_of(meta: &ObjectMeta) -> RunName {
    RunName {
        uid: meta.uid.clone().unwrap_or_default(),
        namespace: meta.namespace.clone().unwrap_or_default(),
        name: meta.name.clone().unwrap_or_default(),
    }
}

/// Removes all pods and Jobs of this run, and gives its node back. Probes go first: one without its
/// subject would still load something.
pub async fn run_is_gone(context: &Context, run: &RunName) -> Result<(), Error> {
    context.leave_queue(&run.uid);
    let params = ListParams::default().labels(&probes_of(&run.uid));
    let left = jobs(context).list_metadata(&params).await;
    for job in left.map_err(failed("probe jobs"))?.items {
        let uid = job.uid().unwrap_or_default();
        remove_probe(context, &job.name_any(), &uid).await?;
    }
    // Where runs are not followed any more, the operator may not touch pods either.
    if context.config.watches(&run.namespace) {
        let pods = ListParams::default().labels(&selector(&run.uid));
        remove_pods(context, &run.namespace, &pods).await?;
    }
    release_claims(context, &run.uid).await?;
    context.backoff.succeeded(&run.uid);
    Ok(())
}

/// Releases the node of a run that cannot continue now, after removing what may still use it. What
/// has ended stays: a trial's result can still be recorded. An interrupted trial is measured again.
pub async fn release_node(context: &Context, run: &RunName) -> Result<(), Error> {
    context.leave_queue(&run.uid);
    let params = ListParams::default().labels(&probes_of(&run.uid));
    let left = jobs(context).list(&params).await;
    let left = left.map_err(failed("probe jobs"))?.items;
    for job in left.iter().filter(|job| end_of(job).is_none()) {
        let uid = job.uid().unwrap_or_default();
        remove_probe(context, &job.name_any(), &uid).await?;
    }
    let pods = ListParams::default().labels(&selector(&run.uid));
    remove_pods(context, &run.namespace, &pods.fields(NOT_ENDED)).await?;
    release_claims(context, &run.uid).await
}

fn probes_of(run_uid: &str) -> String {
    component_selector(run_uid, labels::COMPONENT_PROBE)
}

async fn release_claims(context: &Context, run_uid: &str) -> Result<(), Error> {
    let held = leases(context).list(&lease_params()).await;
    for lease in held.map_err(failed("claims on nodes"))?.items {
        without_probe(context, run_uid, &lease).await?;
        release_lease(context, run_uid, lease).await?;
    }
    Ok(())
}

/// An error as long as a probe of this run may still scale up what its claim notes: one that is ending does not know
/// that it is over, so that what is at 0 now need not stay there.
async fn without_probe(context: &Context, run_uid: &str, lease: &Lease) -> Result<(), Error> {
    let is_its = holder(lease) == Some(run_uid);
    let Some(noted) = scale::noted(lease).filter(|_| is_its) else {
        return Ok(());
    };
    let namespace = &context.config.operator_namespace;
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let params = ListParams::default().labels(&probes_of(run_uid));
    let left = pods.list_metadata(&params.fields(NOT_ENDED)).await;
    if left.map_err(failed("pods of probes"))?.items.is_empty() {
        return Ok(());
    }
    // Meanwhile it does not stay up.
    scale::bring_back(context, lease).await?;
    Err(Error::OnItsWayBack {
        target: noted.target.to_string(),
    })
}

/// Removes what this run has left, unless it may still measure.
pub async fn leftovers(context: &Context, run: &RunName) -> Result<(), Error> {
    let all_known = context.known_runs();
    let known = all_known
        .iter()
        .find(|known| meta_of(known).uid.as_ref() == Some(&run.uid));
    let may_measure = match known {
        Some(known) => known
            .0
            .as_ref()
            .is_ok_and(|known| !known.is_finished() && known.metadata.deletion_timestamp.is_none()),
        None => lives(context, run).await?,
    };
    if !may_measure {
        run_is_gone(context, run).await?;
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
    let of_runs = ListParams::default().labels(labels::RUN_UID);
    let mut pods = vec![];
    for api in namespaces::with_own::<Pod>(context) {
        let found = api.list_metadata(&of_runs).await;
        pods.extend(found.map_err(failed("pods of runs"))?.items);
    }
    let of_jobs = jobs.items.iter().map(|job| &job.metadata);
    let of_pods = pods.iter().map(|pod| &pod.metadata);
    // A Lease that was taken over carries the labels of its last holder.
    let of_leases = leases.items.iter().map(|lease| &lease.metadata);
    let owners = of_jobs.chain(of_pods).chain(of_leases).filter_map(owner);
    for run in owners.collect::<BTreeSet<RunName>>() {
        if !lives(context, &run).await? {
            tracing::info!(?run, "sweeping what a deleted run left behind");
            run_is_gone(context, &run).await?;
        }
    }
    Ok(())
}

/// The run that an object belongs to, by its labels and annotations.
fn owner(meta: &ObjectMeta) -> Option<RunName> {
    let annotation = |key| meta.annotations.as_ref()?.get(key).cloned();
    Some(RunName {
        uid: meta.labels.as_ref()?.get(labels::RUN_UID)?.clone(),
        namespace: annotation(labels::RUN_NAMESPACE)?,
        name: annotation(labels::RUN_NAME)?,
    })
}

/// Whether this run still exists, according to the API server. In a namespace that is not followed any
/// more nobody would end it, so that it counts as gone.
pub async fn lives(context: &Context, run: &RunName) -> Result<bool, Error> {
    if !context.config.watches(&run.namespace) {
        return Ok(false);
    }
    let api: Api<BenchmarkRun> = Api::namespaced(context.client.clone(), &run.namespace);
    let found = api.get_metadata_opt(&run.name).await;
    let found = found.map_err(failed("a run"))?;
    Ok(found.is_some_and(|found| found.metadata.uid.as_ref() == Some(&run.uid)))
}
