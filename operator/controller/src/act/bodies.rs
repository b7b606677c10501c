//! Reads the bodies that a trial sends, and gives them to its probe.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Api;
use kube::api::PostParams;
use wasmbench_api::labels;
use wasmbench_core::build::bodies::{MOST_BYTES, config_map, stored};
use wasmbench_core::observed::{Observed, ObservedProbe, PodState};
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::digest::sha256;
use wasmbench_model::wire::failure::{Failure, FailureReason};
use wasmbench_model::wire::record::TrialId;

use super::failed;
use crate::context::Context;
use crate::error::Error;
use crate::observe::bodies::read;

/// Bodies by their workload's name.
pub type Bodies = BTreeMap<String, Vec<u8>>;

/// The bodies of `trial`, or why it cannot be measured.
pub async fn of_trial(
    context: &Context,
    run: &ValidatedRun,
    observed: &Observed,
    trial: &TrialId,
) -> Result<Result<Bodies, Failure>, Error> {
    let mut bodies = Bodies::new();
    for (workload, from) in stored(&run.workloads(trial)) {
        let bytes = match read(context, run, &from).await? {
            Ok(bytes) => bytes,
            Err(why) => return Ok(Err(unavailable(&workload, &why))),
        };
        let first = observed.bodies.get(&workload);
        if first.is_some_and(|first| *first != sha256(&bytes)) {
            return Ok(Err(changed(&workload, &from.config_map)));
        }
        bodies.insert(workload, bytes);
    }
    let all: usize = bodies.values().map(Vec::len).sum();
    if all > MOST_BYTES {
        let message = format!(
            "the bodies from ConfigMaps have {all} bytes together, and {MOST_BYTES} fit into the \
             probe's: make several runs of it, or use bodyBytes"
        );
        return Ok(Err(Failure::new(FailureReason::BodyUnavailable, message)));
    }
    Ok(Ok(bodies))
}

fn unavailable(workload: &str, why: &str) -> Failure {
    let message = format!(
        "the body of workload {workload} cannot be read: {why} in the run's namespace: create it, and \
         start the run anew"
    );
    Failure::new(FailureReason::BodyUnavailable, message)
}

fn changed(workload: &str, config_map: &str) -> Failure {
    let message = format!(
        "the body of workload {workload} is no longer the one that the run began with: somebody changed \
         ConfigMap {config_map}, and trials with different requests cannot be compared: start the run \
         anew, with a ConfigMap that stays (immutable: true)"
    );
    Failure::new(FailureReason::BodyChanged, message)
}

/// Gives bodies to the probes that still wait for theirs: an operator may have ended just after it
/// created a Job.
pub async fn complete(
    context: &Context,
    run: &ValidatedRun,
    observed: &Observed,
) -> Result<(), Error> {
    for probe in observed.probes.iter().filter(|probe| may_wait(probe)) {
        let labels = [(labels::RUN_UID.to_owned(), run.uid.clone())];
        let job = ObjectMeta {
            name: Some(probe.job.clone()),
            namespace: Some(context.config.operator_namespace.clone()),
            uid: Some(probe.uid.clone()),
            labels: Some(labels.into()),
            ..ObjectMeta::default()
        };
        if let Ok(bodies) = of_trial(context, run, observed, &probe.trial).await? {
            give(context, &job, bodies).await?;
        }
    }
    Ok(())
}

/// Whether the Job's pod may wait for something that it mounts.
fn may_wait(probe: &ObservedProbe) -> bool {
    let pod = probe.pod.as_ref();
    let is_there = probe.end.is_none() && !probe.deleting && !probe.uid.is_empty();
    is_there && pod.is_none_or(|pod| matches!(pod.state, PodState::Pending(_)))
}

/// Gives `bodies` to the Job with this metadata, unless it already has them.
pub async fn give(context: &Context, job: &ObjectMeta, bodies: Bodies) -> Result<(), Error> {
    if bodies.is_empty() || job.uid.is_none() {
        return Ok(());
    }
    let namespace = &context.config.operator_namespace;
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), namespace);
    let created = api
        .create(&PostParams::default(), &config_map(job, bodies))
        .await;
    match created {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        other => other
            .map(drop)
            .map_err(failed("give a probe its bodies".to_owned())),
    }
}
