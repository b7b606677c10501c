//! Writes: one match on the plan's steps, each arm one builder and one or two calls. Nothing is
//! decided here.

mod bodies;
mod companions;
mod nodes;
mod on_node;
mod record;
mod scaled;
mod summarise;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use wasmbench_api::owner::belongs_to;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::cold_start_job::{Place, cold_start_job};
use wasmbench_core::build::density_job::density_job;
use wasmbench_core::build::probe_job::{self, Target, probe_job};
use wasmbench_core::build::scout_job::scout_job;
use wasmbench_core::build::subject_pod::subject_pod;
use wasmbench_core::build::upstream_pod::upstream_pod;
use wasmbench_core::observed::{Observed, ObservedPod};
use wasmbench_core::plan::{Plan, Step, quiet_seconds, requested_rps};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered;
use wasmbench_model::variants::presets::GATEWAY_PORT;
use wasmbench_model::waiting::is_over_quota;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::{Point, TrialId};

use crate::act::on_node::OnNode;
use crate::context::Context;
use crate::error::{Error, chain, refused};
use crate::observe::why_no_pod;
use crate::remove::{failed, remove_pod, remove_probe};
use crate::{scale, sweep};

/// The longest that a trial may take, as a multiple of its expected time.
const LONGEST: u32 = 3;
/// For how long the Lease of the leader is renewed at most: if the leader is paused, all nodes wait for that
/// to end.
const LONGEST_COVER: Duration = Duration::from_mins(2);

/// Carries out the steps of `plan` in order. `Break` means that a step was refused for good, which is
/// recorded: nothing else tells the run, so it has to look again now.
pub async fn act(
    context: &Context,
    run: &ValidatedRun,
    observed: &Observed,
    plan: &Plan,
) -> Result<ControlFlow<()>, Error> {
    let node = plan.node.as_deref().unwrap_or_default();
    bodies::complete(context, run, observed).await?;
    for step in &plan.steps {
        if step.ends_probe() {
            context.quiet.end(&run.uid);
        }
        let name: &'static str = step.into();
        context.metrics.stepped(name);
        // A step builds whole objects: on the heap, so that what waits for it stays small.
        let done = Box::pin(one(OnNode { context, run, node }, observed, step)).await?;
        tracing::info!(
            run = run.name,
            namespace = run.namespace,
            step = name,
            refused = done.is_break().then_some(true),
            "step done"
        );
        if done.is_break() {
            return Ok(done);
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The steps that make something may be refused.
async fn one(here: OnNode<'_>, observed: &Observed, step: &Step) -> Result<ControlFlow<()>, Error> {
    let OnNode { context, run, node } = here;
    let done = match step {
        Step::ClaimNode { node, existing } => {
            nodes::claim(context, run, node, existing.as_ref()).await
        }
        Step::ReleaseNode { node } => nodes::release(context, &run.uid, node).await,
        Step::ForgetNode { lease } => nodes::forget(context, lease).await,
        Step::Sweep(over) => sweep::leftovers(context, over).await,
        Step::StartUpstream { trial, restarts } => {
            return start_upstream(here, trial, *restarts).await;
        }
        Step::DeploySubject(trial) => return deploy_subject(here, observed, trial).await,
        Step::ScaleUp {
            trial,
            target,
            found,
        } => return scaled::scale_up(here, trial, target, found).await,
        Step::NoteTarget {
            trial,
            target,
            found,
            most,
        } => scaled::note(here, trial, target, found, *most)
            .await
            .map(drop),
        Step::ScaleDown {
            target,
            resource_version,
        } => {
            let version = resource_version.as_deref();
            scale::set(context, &run.namespace, target, version, 0).await
        }
        Step::ForgetTarget => nodes::forget_note(context, &run.uid, node).await,
        Step::LaunchProbe {
            trial,
            subject_uid,
            address,
            again,
        } => {
            let rates = requested_rps(run, observed, trial);
            let containers = companions::containers(context, run, observed, subject_uid).await?;
            let companions = companions::uids(context, run, node, subject_uid).await?;
            let target = Target {
                node,
                subject_uid,
                address: *address,
                upstream_uid: upstream_of(run, observed, trial).map(|pod| pod.uid.as_str()),
                containers: containers.as_ref(),
                companion_uids: companions.as_deref(),
                requested_rps: &rates,
            };
            keep_quiet(context, run, trial).await?;
            let job = load_job(context, run, trial, target);
            return launch(here, observed, trial, job, *again).await;
        }
        Step::LaunchColdStart { trial, again } => {
            keep_quiet(context, run, trial).await?;
            let job = creating_job(context, run, observed, node, trial);
            return launch(here, observed, trial, job, *again).await;
        }
        Step::CollectRecord {
            trial,
            probe_pod,
            subject_pod,
        } => {
            let subject_pod = subject_pod.as_deref();
            record::collect(here, trial, probe_pod, subject_pod).await
        }
        Step::RecordFailure {
            trial,
            failure,
            subject_pod,
        } => {
            let failure = why(context, observed, trial, failure.clone()).await;
            record::failure(here, trial, &failure, subject_pod.as_deref()).await
        }
        Step::RecordSkipped(exclusion) => record::skipped(here, exclusion).await,
        Step::RemoveSubject { pod, uid } | Step::RemoveUpstream { pod, uid } => {
            remove_pod(context, &run.namespace, pod, uid).await
        }
        Step::RemoveProbe { job, uid } => remove_probe(context, job, uid).await,
        Step::Summarise => summarise::summarise(context, run).await,
    };
    done.map(ControlFlow::Continue)
}

/// Records why a step of `trial` is refused for good.
async fn refuse(
    here: OnNode<'_>,
    trial: &TrialId,
    failure: &Failure,
) -> Result<ControlFlow<()>, Error> {
    let recorded = record::failure(here, trial, failure, None).await;
    recorded.map(ControlFlow::Break)
}

/// Keeps the node quiet from now on, until the probe has ended or should have ended.
async fn keep_quiet(context: &Context, run: &ValidatedRun, trial: &TrialId) -> Result<(), Error> {
    let expected = Duration::from_secs(quiet_seconds(run, trial));
    // A probe prolongs a warm-up that has not settled, and repeats a window on a noisy node.
    let longest = LONGEST * expected;
    context.quiet.prepare(longest).await;
    let covered = context.leader.cover(longest.min(LONGEST_COVER)).await;
    covered.map_err(|why| Error::NotLeader(chain(&why)))?;
    context.quiet.begin(&run.uid, trial, expected);
    Ok(())
}

/// The API server's message, if the quota has no room for a pod now.
fn over_quota(error: &kube::Error) -> Option<String> {
    let kube::Error::Api(status) = error else {
        return None;
    };
    is_over_quota(status.code, &status.message).then(|| status.message.clone())
}

/// What the API server says when etcd is full, and when a webhook does not answer.
const NO_WRITES: [&str; 2] = ["database space exceeded", "failed calling webhook"];

/// The error of writing the `ConfigMap` with this name.
fn not_written(name: String, error: kube::Error) -> Error {
    let blocked = |error: &kube::Error| {
        let kube::Error::Api(status) = error else {
            return None;
        };
        let known = NO_WRITES.iter().any(|text| status.message.contains(text));
        let too_much = matches!(status.code, 413 | 507);
        (known || too_much).then(|| status.message.clone())
    };
    let message = refused(&error).or_else(|| over_quota(&error));
    match message.or_else(|| blocked(&error)) {
        Some(message) => Error::ResultsRefused { name, message },
        None => failed(format!("write {name}"))(error),
    }
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
                Some(found) if !belongs_to::<BenchmarkRun>(&found.metadata, &run.uid) => {
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
    here: OnNode<'_>,
    observed: &Observed,
    trial: &TrialId,
) -> Result<ControlFlow<()>, Error> {
    let OnNode { context, run, node } = here;
    let Some(variant) = run.variant(trial) else {
        return Ok(ControlFlow::Continue(()));
    };
    let address = upstream_address(run, observed, trial);
    let pod = subject_pod(run, variant, trial, node, address.as_deref());
    let Some(message) = create_pod(context, run, &pod).await? else {
        return Ok(ControlFlow::Continue(()));
    };
    let message = format!(
        "the API server refuses the pod: {message}: change resources or placement, or the \
         namespace's limits and policies, or exempt it from whatever injects containers"
    );
    let failure = Failure::new(FailureReason::PodRejected, message);
    refuse(here, trial, &failure).await
}

/// Creates an echo server. A refusal is recorded for `trial`, which needs it first.
async fn start_upstream(
    here: OnNode<'_>,
    trial: &TrialId,
    restarts: usize,
) -> Result<ControlFlow<()>, Error> {
    let OnNode { context, run, node } = here;
    let pod = upstream_pod(run, &context.config.images, node, restarts);
    let Some(message) = create_pod(context, run, &pod).await? else {
        return Ok(ControlFlow::Continue(()));
    };
    let message = format!(
        "the API server refuses the echo server's pod: {message}: change the namespace's limits and \
         policies, or leave out workloads with upstream: true"
    );
    let failure = Failure::new(FailureReason::UpstreamUnavailable, message);
    refuse(here, trial, &failure).await
}

/// The echo server, if `trial` needs one.
fn upstream_of<'a>(
    run: &ValidatedRun,
    observed: &'a Observed,
    trial: &TrialId,
) -> Option<&'a ObservedPod> {
    observed.upstream().filter(|_| run.has_upstream(trial))
}

/// The `failure` of `trial`, with the message of the Job controller if the probe's Job has no pod.
async fn why(context: &Context, observed: &Observed, trial: &TrialId, failure: Failure) -> Failure {
    let mut probes = observed.probes.iter();
    match probes.find(|probe| probe.trial == *trial && probe.awaits_pod()) {
        Some(probe) => why_no_pod(context, &probe.job, failure).await,
        None => failure,
    }
}

fn upstream_address(run: &ValidatedRun, observed: &Observed, trial: &TrialId) -> Option<String> {
    let ip = upstream_of(run, observed, trial)?.ip?;
    Some(std::net::SocketAddr::new(ip, GATEWAY_PORT).to_string())
}

/// The Job of a trial whose probe creates the pods itself.
fn creating_job(
    context: &Context,
    run: &ValidatedRun,
    observed: &Observed,
    node: &str,
    trial: &TrialId,
) -> Option<Job> {
    let (variant, workload) = (run.variant(trial)?, run.workload(trial)?);
    let address = upstream_address(run, observed, trial);
    let noted = observed.scaled().map(|(scaled, _)| scaled);
    let scaled = noted.filter(|_| variant.subject.target.is_some());
    if variant.subject.target.is_some() && scaled.is_none() {
        return None;
    }
    let place = Place {
        node,
        upstream: address.as_deref(),
        scaled,
    };
    let build = if trial.cell.point == Point::Density {
        density_job
    } else {
        cold_start_job
    };
    Some(build(run, variant, workload, trial, place, &context.config))
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

/// Creates the Job of `trial` and what it mounts. If the trial has no body to send, or something
/// changed the Job on its way, the trial is recorded as failed.
async fn launch(
    here: OnNode<'_>,
    observed: &Observed,
    trial: &TrialId,
    job: Option<Job>,
    again: bool,
) -> Result<ControlFlow<()>, Error> {
    let OnNode { context, run, .. } = here;
    let Some(mut job) = job else {
        return Ok(ControlFlow::Continue(()));
    };
    if again {
        job = probe_job::again(job, run, trial);
    }
    if let Some(epoch) = context.leader.epoch() {
        job = epoch.launch(job);
    }
    let failure = match bodies::of_trial(context, run, observed, trial).await? {
        Ok(sent) => {
            let (created, altered) = create_job(context, &job).await?;
            bodies::give(context, &created, sent).await?;
            altered.map(|message| Failure::new(FailureReason::ProbeAltered, message))
        }
        Err(failure) => Some(failure),
    };
    let Some(failure) = failure else {
        return Ok(ControlFlow::Continue(()));
    };
    context.quiet.end(&run.uid);
    refuse(here, trial, &failure).await
}

/// Creates a Job, unless the run already has it. Returns its metadata, and how it was altered.
async fn create_job(context: &Context, job: &Job) -> Result<(ObjectMeta, Option<String>), Error> {
    let api: Api<Job> = Api::namespaced(context.client.clone(), &context.config.operator_namespace);
    match api.create(&PostParams::default(), job).await {
        Ok(created) => {
            let alteration = altered::job_alteration(job, &created);
            Ok((created.metadata, alteration))
        }
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let name = job.name_any();
            let found = api.get_metadata_opt(&name).await;
            let found = found.map_err(failed("look at a job"))?;
            // The hash in the name is short: another run's Job could have the same one.
            match found {
                Some(found) if !same_trial(&found.metadata, &job.metadata) => {
                    Err(Error::NameTaken { kind: "Job", name })
                }
                Some(found) => Ok((found.metadata, None)),
                None => Ok((ObjectMeta::default(), None)),
            }
        }
        Err(error) => Err(failed(format!("create job {}", job.name_any()))(error)),
    }
}

/// Whether two objects belong to the same trial of the same run.
fn same_trial(a: &ObjectMeta, b: &ObjectMeta) -> bool {
    let value = |map: &Option<BTreeMap<String, String>>, key| map.as_ref()?.get(key).cloned();
    let trial = |meta: &ObjectMeta| {
        (
            value(&meta.labels, labels::RUN_UID),
            value(&meta.annotations, labels::TRIAL),
        )
    };
    trial(a) == trial(b)
}
