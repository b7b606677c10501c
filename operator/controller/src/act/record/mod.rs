//! Stores records: reads what the probe printed ([`log`]), adds facts from the API ([`facts`]), and
//! appends the record to the chunk of its variant and workload ([`chunks`]). A trial that is already
//! stored is left unchanged.

mod chunks;
mod facts;
mod log;

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use wasmbench_core::build::{OPERATOR_VERSION, names};
use wasmbench_core::observed::PodState;
use wasmbench_core::outcome;
use wasmbench_core::plan::Exclusion;
use wasmbench_model::wire::evidence::Evidence;
use wasmbench_model::wire::failure::Failure;
use wasmbench_model::wire::record::{Outcome, RECORD_SCHEMA, Record, SubjectFacts, TrialId};

use super::on_node::OnNode;
use crate::error::Error;
use crate::observe::{observed_pod, with_event};
use crate::remove::failed;
use chunks::store_all;
use facts::{last_pod, subject, subject_of_probe};
use log::result;

/// Stores what the probe of `trial` printed.
pub async fn collect(
    here: OnNode<'_>,
    trial: &TrialId,
    probe_pod: &str,
    subject_pod: Option<&str>,
) -> Result<(), Error> {
    let OnNode { context, run, .. } = here;
    let probes: Api<Pod> =
        Api::namespaced(context.client.clone(), &context.config.operator_namespace);
    let what = || failed(format!("read the log of {probe_pod}"));
    let probe = probes.get(probe_pod).await.map_err(what())?;
    let probe_state = observed_pod(&probe).map_or(PodState::Running, |pod| pod.state);
    let subject = subject(here, trial, subject_pod).await?;
    let (facts, state) = subject.unzip();
    let point = trial.cell.point;
    let (evidence, outcome) = result(&probes, probe_pod, &probe_state, |log, probe| {
        outcome::read(point, log, probe, state.as_ref())
    })
    .await?;
    let (facts, outcome) = if point.probe_creates_pods() {
        let outcome = with_kubelet_event(here, trial, outcome).await;
        let last = evidence
            .as_ref()
            .and_then(|evidence| last_pod(run, trial, evidence));
        let facts = subject_of_probe(here, trial, last).await?;
        (facts, outcome)
    } else {
        (facts, outcome)
    };
    let record = record(here, trial, outcome, facts, evidence);
    store_all(here, vec![record]).await
}

/// Adds the latest event about the pods to the `outcome` of a trial whose pods the probe
/// created and removed.
async fn with_kubelet_event(here: OnNode<'_>, trial: &TrialId, outcome: Outcome) -> Outcome {
    let OnNode { context, run, .. } = here;
    let Outcome::Failed { reason, message } = outcome else {
        return outcome;
    };
    let failure = Failure { reason, message };
    let pods = names::cold_subject(run, trial);
    outcome::failed(with_event(context, &run.namespace, &pods, failure).await)
}

/// Stores why `trial` has no measurement.
pub async fn failure(
    here: OnNode<'_>,
    trial: &TrialId,
    failure: &Failure,
    subject_pod: Option<&str>,
) -> Result<(), Error> {
    let OnNode { context, run, .. } = here;
    let subject = subject(here, trial, subject_pod).await?;
    let failure = failure.clone();
    let failure = match subject_pod {
        Some(pod) => with_event(context, &run.namespace, pod, failure).await,
        None => failure,
    };
    let outcome = outcome::failed(failure);
    let facts = subject.map(|(facts, _)| facts);
    store_all(here, vec![record(here, trial, outcome, facts, None)]).await
}

/// Records that the trials of `exclusion` were skipped.
pub async fn skipped(here: OnNode<'_>, exclusion: &Exclusion) -> Result<(), Error> {
    let mut groups: BTreeMap<(&str, &str), Vec<Record>> = BTreeMap::new();
    for trial in &exclusion.trials {
        let Failure { reason, message } = exclusion.failure.clone();
        let record = record(
            here,
            trial,
            Outcome::Skipped { reason, message },
            None,
            None,
        );
        groups
            .entry((&trial.cell.variant, &trial.cell.workload))
            .or_default()
            .push(record);
    }
    for records in groups.into_values() {
        store_all(here, records).await?;
    }
    Ok(())
}

fn record(
    here: OnNode<'_>,
    trial: &TrialId,
    outcome: Outcome,
    subject: Option<SubjectFacts>,
    evidence: Option<Evidence>,
) -> Record {
    let OnNode { context, run, .. } = here;
    Record {
        schema: RECORD_SCHEMA.into(),
        run_uid: run.uid.clone(),
        trial: trial.clone(),
        position: run
            .position(trial)
            .and_then(|p| u32::try_from(p).ok())
            .unwrap_or_default(),
        outcome,
        operator_version: OPERATOR_VERSION.into(),
        recorded_at: context.clock.now(),
        subject,
        evidence,
    }
}
