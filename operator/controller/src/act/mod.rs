//! Writes: one match on the plan's steps, each arm one builder and one or two calls. Nothing is
//! decided here.

mod nodes;
mod record;
mod summarise;

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{DeleteParams, ListParams, PostParams, Preconditions};
use kube::{Api, ResourceExt};
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::altered;
use wasmbench_core::build::cold_start_job::cold_start_job;
use wasmbench_core::build::density_job::density_job;
use wasmbench_core::build::probe_job::{Target, probe_job};
use wasmbench_core::build::scout_job::scout_job;
use wasmbench_core::build::subject_pod::subject_pod;
use wasmbench_core::build::upstream_pod::upstream_pod;
use wasmbench_core::observed::{Observed, PodSeen};
use wasmbench_core::plan::{Failure, FailureReason, OVER_QUOTA, Plan, Step, quiet_seconds};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_core::variants::GATEWAY_PORT;
use wasmbench_core::wire::record::{Point, TrialId};

use crate::context::Context;
use crate::error::Error;
use crate::observe::belongs_to;

/// The longest that a trial may take, as a multiple of its expected time.
const LONGEST: u32 = 3;

pub use nodes::release_lease;
pub use summarise::conclude;

/// Carries out the steps of `plan` in order.
pub async fn act(
    context: &Context,
    run: &ValidatedRun,
    seen: &Observed,
    plan: &Plan,
) -> Result<(), Error> {
    let node = plan.node.as_deref().unwrap_or_default();
    for step in &plan.steps {
        if step.ends_probe() {
            context.quiet.end(&run.uid);
        }
        let name: &'static str = step.into();
        context.metrics.stepped(name);
        one(context, run, seen, node, step).await?;
        tracing::info!(
            run = run.name,
            namespace = run.namespace,
            step = name,
            "step done"
        );
    }
    Ok(())
}

async fn one(
    context: &Context,
    run: &ValidatedRun,
    seen: &Observed,
    node: &str,
    step: &Step,
) -> Result<(), Error> {
    match step {
        Step::ClaimNode { node, existing } => {
            nodes::claim(context, run, node, existing.as_ref()).await
        }
        Step::ReleaseNode { node } => nodes::release(context, &run.uid, node).await,
        Step::ForgetNode { lease } => nodes::forget(context, lease).await,
        Step::StartUpstream => {
            let pod = upstream_pod(run, &context.config.images, node);
            create_pod(context, run, &pod).await.map(drop)
        }
        Step::DeploySubject(trial) => deploy_subject(context, run, seen, node, trial).await,
        Step::LaunchProbe {
            trial,
            subject_uid,
            address,
        } => {
            let target = Target {
                node,
                subject_uid,
                address: *address,
                upstream_uid: upstream_of(run, seen, trial).map(|pod| pod.uid.as_str()),
            };
            keep_quiet(context, run, trial).await;
            let job = load_job(context, run, trial, target);
            launch(context, run, node, trial, job).await
        }
        Step::LaunchColdStart(trial) => {
            keep_quiet(context, run, trial).await;
            let job = creating_job(context, run, seen, node, trial);
            launch(context, run, node, trial, job).await
        }
        Step::CollectRecord {
            trial,
            probe_pod,
            subject_pod,
        } => {
            let subject_pod = subject_pod.as_deref();
            record::collect(context, run, node, trial, probe_pod, subject_pod).await
        }
        Step::RecordFailure {
            trial,
            failure,
            subject_pod,
        } => record::failure(context, run, node, trial, failure, subject_pod.as_deref()).await,
        Step::RecordSkipped(exclusion) => record::skipped(context, run, node, exclusion).await,
        Step::RemoveSubject { pod } | Step::RemoveUpstream { pod } => {
            remove_pod(context, &run.namespace, pod).await
        }
        Step::RemoveProbe { job } => remove_probe(context, job).await,
        Step::Summarise => summarise::summarise(context, run).await,
    }
}

/// Keeps the node quiet from now on, until the probe has ended or should have ended.
async fn keep_quiet(context: &Context, run: &ValidatedRun, trial: &TrialId) {
    let expected = Duration::from_secs(quiet_seconds(run, trial));
    // A probe prolongs a warm-up that has not settled, and repeats a window on a noisy node.
    context.quiet.prepare(LONGEST * expected).await;
    context.quiet.begin(&run.uid, trial, expected);
}

/// Wraps the error of a write.
fn failed(what: impl Into<String>) -> impl FnOnce(kube::Error) -> Error {
    let what = what.into();
    move |source| Error::Act { what, source }
}

/// A namespace accepts pods only once the cluster has created its service account: when namespace
/// and run are applied together, that happens after the run is created.
const NO_ACCOUNT_YET: &str = "error looking up service account";

/// The API server's message, if the refusal is permanent (policy, an invalid field).
fn refused(error: &kube::Error) -> Option<String> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    let passes = [NO_ACCOUNT_YET, OVER_QUOTA]
        .iter()
        .any(|words| status.message.contains(words));
    let stays = matches!(status.code, 400 | 403 | 422) && !passes;
    stays.then(|| status.message.clone())
}

/// The API server's message, if the quota has no room for a pod now.
fn over_quota(error: &kube::Error) -> Option<String> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    let over = status.code == 403 && status.message.contains(OVER_QUOTA);
    over.then(|| status.message.clone())
}

/// Creates a pod of the run, unless the run already owns a pod of that name. Another owner's pod of
/// that name is an error. `Some` holds the API server's refusal.
async fn create_pod(
    context: &Context,
    run: &ValidatedRun,
    pod: &Pod,
) -> Result<Option<String>, Error> {
    let api: Api<Pod> = Api::namespaced(context.client.clone(), &run.namespace);
    let name = pod.name_any();
    match api.create(&PostParams::default(), pod).await {
        Ok(_) => Ok(None),
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let found = api
                .get_metadata_opt(&name)
                .await
                .map_err(failed("look at a pod"))?;
            match found {
                Some(found) if !belongs_to(&found.metadata, &run.uid) => {
                    Err(Error::NameTaken { kind: "pod", name })
                }
                _ => Ok(None),
            }
        }
        Err(error) => match (refused(&error), over_quota(&error)) {
            (Some(message), _) => Ok(Some(message)),
            (None, Some(message)) => Err(Error::Quota { message }),
            (None, None) => Err(failed(format!("create pod {name}"))(error)),
        },
    }
}

async fn deploy_subject(
    context: &Context,
    run: &ValidatedRun,
    seen: &Observed,
    node: &str,
    trial: &TrialId,
) -> Result<(), Error> {
    let Some(variant) = run.variant(trial) else {
        return Ok(());
    };
    let address = upstream_address(run, seen, trial);
    let pod = subject_pod(run, variant, trial, node, address.as_deref());
    let Some(message) = create_pod(context, run, &pod).await? else {
        return Ok(());
    };
    let message = format!(
        "the API server refuses the pod: {message}: change spec.resources or placement, or the \
         namespace's limits and policies, or exempt it from whatever injects containers"
    );
    let failure = Failure::new(FailureReason::PodRejected, message);
    record::failure(context, run, node, trial, &failure, None).await
}

/// The echo server, if `trial` needs one.
fn upstream_of<'a>(run: &ValidatedRun, seen: &'a Observed, trial: &TrialId) -> Option<&'a PodSeen> {
    seen.upstream.as_ref().filter(|_| run.has_upstream(trial))
}

fn upstream_address(run: &ValidatedRun, seen: &Observed, trial: &TrialId) -> Option<String> {
    let ip = upstream_of(run, seen, trial)?.ip?;
    Some(std::net::SocketAddr::new(ip, GATEWAY_PORT).to_string())
}

/// The Job of a trial whose probe creates the pods itself.
fn creating_job(
    context: &Context,
    run: &ValidatedRun,
    seen: &Observed,
    node: &str,
    trial: &TrialId,
) -> Option<Job> {
    let (variant, workload) = (run.variant(trial)?, run.workload(trial)?);
    let address = upstream_address(run, seen, trial);
    let build = if trial.cell.point == Point::Density {
        density_job
    } else {
        cold_start_job
    };
    Some(build(
        run,
        variant,
        workload,
        trial,
        node,
        address.as_deref(),
        &context.config,
    ))
}

/// The Job of a load.
fn load_job(
    context: &Context,
    run: &ValidatedRun,
    trial: &TrialId,
    target: Target<'_>,
) -> Option<Job> {
    let (variant, config) = (run.variant(trial)?, &context.config);
    if trial.is_scout() {
        return Some(scout_job(run, variant, trial, target, config));
    }
    let workload = run.workload(trial)?;
    Some(probe_job(run, variant, workload, trial, target, config))
}

/// Creates the Job of `trial`. If something changed it on its way, the trial is recorded as failed.
async fn launch(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    trial: &TrialId,
    job: Option<Job>,
) -> Result<(), Error> {
    let Some(job) = job else { return Ok(()) };
    let Some(message) = create_job(context, &job).await? else {
        return Ok(());
    };
    context.quiet.end(&run.uid);
    let failure = Failure::new(FailureReason::ProbeAltered, message);
    record::failure(context, run, node, trial, &failure, None).await
}

/// Creates a Job, unless the run already has it. `Some` says how it was altered.
async fn create_job(context: &Context, job: &Job) -> Result<Option<String>, Error> {
    let api: Api<Job> = Api::namespaced(context.client.clone(), &context.config.operator_namespace);
    match api.create(&PostParams::default(), job).await {
        Ok(created) => Ok(altered::of_job(job, &created)),
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let name = job.name_any();
            let found = api.get_metadata_opt(&name).await;
            let found = found.map_err(failed("look at a job"))?;
            // The hash in the name is short: another run's Job could have the same one.
            match found {
                Some(found) if !same_trial(&found.metadata, &job.metadata) => {
                    Err(Error::NameTaken { kind: "Job", name })
                }
                _ => Ok(None),
            }
        }
        Err(error) => Err(failed(format!("create job {}", job.name_any()))(error)),
    }
}

/// Whether two objects belong to the same trial of the same run.
fn same_trial(a: &ObjectMeta, b: &ObjectMeta) -> bool {
    let value = |of: &Option<BTreeMap<String, String>>, key| of.as_ref()?.get(key).cloned();
    let trial = |meta: &ObjectMeta| {
        (
            value(&meta.labels, labels::RUN_UID),
            value(&meta.annotations, labels::TRIAL),
        )
    };
    trial(a) == trial(b)
}

async fn remove_pod(context: &Context, namespace: &str, name: &str) -> Result<(), Error> {
    let api: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    ignore_missing(
        api.delete(name, &DeleteParams::default()).await.map(drop),
        "delete pod",
        name,
    )
}

/// Removes a probe Job and its pod. The pod is deleted by name too: that stops its load at once,
/// while the Job's garbage collection takes a moment.
pub async fn remove_probe(context: &Context, job: &str) -> Result<(), Error> {
    let namespace = &context.config.operator_namespace;
    let jobs: Api<Job> = Api::namespaced(context.client.clone(), namespace);
    let deleted = jobs
        .delete(job, &DeleteParams::background())
        .await
        .map(drop);
    ignore_missing(deleted, "delete job", job)?;
    remove_pods(
        context,
        namespace,
        &format!("batch.kubernetes.io/job-name={job}"),
    )
    .await
}

/// Removes all pods with these labels.
pub async fn remove_pods(context: &Context, namespace: &str, labels: &str) -> Result<(), Error> {
    let api: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let params = ListParams::default().labels(labels);
    let left = api.list_metadata(&params).await;
    let left = left.map_err(failed("list pods that are left"))?.items;
    let left = left
        .iter()
        .filter(|pod| pod.metadata.deletion_timestamp.is_none());
    for pod in left {
        remove_pod(context, namespace, &pod.name_any()).await?;
    }
    Ok(())
}

fn ignore_missing(result: Result<(), kube::Error>, what: &str, name: &str) -> Result<(), Error> {
    match result {
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(()),
        other => other.map_err(failed(format!("{what} {name}"))),
    }
}

/// Deletes exactly this run, not a new one of the same name.
pub async fn delete_run(context: &Context, run: &ObjectMeta) -> Result<(), Error> {
    let (name, namespace) = (run.name.as_deref(), run.namespace.as_deref());
    let (name, namespace) = (name.unwrap_or_default(), namespace.unwrap_or_default());
    let api: Api<BenchmarkRun> = Api::namespaced(context.client.clone(), namespace);
    let params = DeleteParams {
        preconditions: Some(Preconditions {
            uid: run.uid.clone(),
            resource_version: None,
        }),
        ..DeleteParams::background()
    };
    let deleted = api.delete(name, &params).await.map(drop);
    ignore_missing(deleted, "delete run", name)
}
