//! Stores records: reads what the probe printed, adds facts from the API, and appends the record to
//! the chunk of its variant and workload. A trial that is already stored is left unchanged.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use kube::api::{LogParams, PostParams};
use kube::{Api, ResourceExt};
use wasmbench_api::BenchmarkRun;
use wasmbench_api::owner::belongs_to;
use wasmbench_core::build::subject_pod::asked_subject;
use wasmbench_core::build::{OPERATOR_VERSION, config_map, names};
use wasmbench_core::observed::PodState;
use wasmbench_core::outcome;
use wasmbench_core::plan::Exclusion;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::altered;
use wasmbench_model::containers;
use wasmbench_model::store::{self, Added, Ended, MAX_DOCUMENT_BYTES};
use wasmbench_model::wire::addition::Addition;
use wasmbench_model::wire::evidence::Evidence;
use wasmbench_model::wire::failure::Failure;
use wasmbench_model::wire::record::{Outcome, RECORD_SCHEMA, Record, SubjectFacts, TrialId};

use super::{failed, not_written};
use crate::context::Context;
use crate::error::Error;
use crate::observe::{pod_seen, with_event};

/// Pauses before the log of a successful probe is read again for its result.
const LOG_PAUSES: [Duration; 3] = [
    Duration::from_millis(100),
    Duration::from_millis(500),
    Duration::from_secs(2),
];
/// How many times a write is attempted when writers conflict.
const ATTEMPTS: usize = 5;

/// Stores what the probe of `trial` printed.
pub async fn collect(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    trial: &TrialId,
    probe_pod: &str,
    subject_pod: Option<&str>,
) -> Result<(), Error> {
    let probes: Api<Pod> =
        Api::namespaced(context.client.clone(), &context.config.operator_namespace);
    let what = || failed(format!("read the log of {probe_pod}"));
    let probe = probes.get(probe_pod).await.map_err(what())?;
    let probe_state = pod_seen(&probe).map_or(PodState::Running, |pod| pod.state);
    let subject = subject(context, run, node, trial, subject_pod).await?;
    let (facts, state) = subject.unzip();
    let point = trial.cell.point;
    let (evidence, outcome) = result(&probes, probe_pod, &probe_state, |log, probe| {
        outcome::read(point, log, probe, state.as_ref())
    })
    .await?;
    let (facts, outcome) = if point.probe_creates_pods() {
        let outcome = told_by_node(context, run, trial, outcome).await;
        let last = evidence
            .as_ref()
            .and_then(|evidence| last_pod(run, trial, evidence));
        let facts = subject_of_probe(context, run, node, trial, last).await?;
        (facts, outcome)
    } else {
        (facts, outcome)
    };
    let record = record(context, run, trial, outcome, facts, evidence);
    store_all(context, run, node, vec![record]).await
}

/// The last pod that a probe created.
struct LastPod {
    name: String,
    image_id: Option<String>,
    added: Vec<Addition>,
}

fn last_pod(run: &ValidatedRun, trial: &TrialId, evidence: &Evidence) -> Option<LastPod> {
    match evidence {
        Evidence::Load(_) | Evidence::Scout(_) => None,
        Evidence::ColdStart(document) => {
            let last = document
                .samples
                .iter()
                .flat_map(|sample| &sample.pods)
                .last();
            last.map(|pod| LastPod {
                name: pod.pod.clone(),
                image_id: pod.image_id.clone(),
                added: document.added.clone(),
            })
        }
        Evidence::Density(document) => Some(LastPod {
            name: names::cold_subject(run, trial),
            image_id: document.image_id.clone(),
            added: document.added.clone(),
        }),
    }
}

/// The probe's output, as parsed by `read`.
async fn result(
    probes: &Api<Pod>,
    name: &str,
    state: &PodState,
    read: impl Fn(&str, &PodState) -> (Option<Evidence>, Outcome),
) -> Result<(Option<Evidence>, Outcome), Error> {
    let params = LogParams {
        container: Some(containers::PROBE.to_owned()),
        limit_bytes: Some(i64::from(MAX_DOCUMENT_BYTES)),
        ..LogParams::default()
    };
    let succeeded = matches!(
        state,
        PodState::Ended {
            exit_code: Some(0),
            ..
        }
    );
    let mut pauses = LOG_PAUSES.into_iter();
    loop {
        let log = probes.logs(name, &params).await;
        let log = log.map_err(failed(format!("read the log of {name}")))?;
        let (evidence, outcome) = read(&log, state);
        match pauses.next() {
            // The last lines of a log may arrive after its container has ended.
            Some(pause) if evidence.is_none() && succeeded => tokio::time::sleep(pause).await,
            _ => return Ok((evidence, outcome)),
        }
    }
}

/// Adds what the kubelet said about the pods to the `outcome` of a trial whose pods the probe
/// created and removed.
async fn told_by_node(
    context: &Context,
    run: &ValidatedRun,
    trial: &TrialId,
    outcome: Outcome,
) -> Outcome {
    let Outcome::Failed { reason, message } = outcome else {
        return outcome;
    };
    let failure = Failure { reason, message };
    let pods = names::cold_subject(run, trial);
    outcome::failed(with_event(context, &run.namespace, &pods, failure).await)
}

/// Stores why `trial` has no measurement.
pub async fn failure(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    trial: &TrialId,
    failure: &Failure,
    subject_pod: Option<&str>,
) -> Result<(), Error> {
    let subject = subject(context, run, node, trial, subject_pod).await?;
    let failure = failure.clone();
    let failure = match subject_pod {
        Some(pod) => with_event(context, &run.namespace, pod, failure).await,
        None => failure,
    };
    let outcome = outcome::failed(failure);
    let facts = subject.map(|(facts, _)| facts);
    store_all(
        context,
        run,
        node,
        vec![record(context, run, trial, outcome, facts, None)],
    )
    .await
}

/// Records that the trials of `exclusion` were skipped.
pub async fn skipped(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    exclusion: &Exclusion,
) -> Result<(), Error> {
    let mut groups: BTreeMap<(&str, &str), Vec<Record>> = BTreeMap::new();
    for trial in &exclusion.trials {
        let Failure { reason, message } = exclusion.failure.clone();
        let record = record(
            context,
            run,
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
        store_all(context, run, node, records).await?;
    }
    Ok(())
}

fn record(
    context: &Context,
    run: &ValidatedRun,
    trial: &TrialId,
    outcome: Outcome,
    subject: Option<SubjectFacts>,
    evidence: Option<Evidence>,
) -> Record {
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

/// Facts about subjects that the probe created and that are already gone: their node, and the last
/// subject as the probe saw it.
async fn subject_of_probe(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    trial: &TrialId,
    last: Option<LastPod>,
) -> Result<Option<SubjectFacts>, Error> {
    let Some(last) = last else {
        return Ok(None);
    };
    let nodes: Api<Node> = Api::all(context.client.clone());
    let found = nodes
        .get_opt(node)
        .await
        .map_err(failed("look at the node"))?;
    let variant = run.variant(trial);
    Ok(Some(SubjectFacts {
        pod: last.name,
        pod_uid: String::new(),
        node: node.to_owned(),
        image: variant.map(|v| v.subject.image.clone()).unwrap_or_default(),
        image_id: last.image_id,
        runtime_class: variant.and_then(|v| v.subject.runtime_class.clone()),
        added: last.added,
        node_facts: found.as_ref().map(node_facts).unwrap_or_default(),
    }))
}

/// What the API knows about the subject and its node.
async fn subject(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    trial: &TrialId,
    pod: Option<&str>,
) -> Result<Option<(SubjectFacts, PodState)>, Error> {
    let Some(name) = pod else { return Ok(None) };
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), &run.namespace);
    let nodes: Api<Node> = Api::all(context.client.clone());
    let (pod, node) = futures::try_join!(pods.get_opt(name), nodes.get_opt(node))
        .map_err(failed("look at the subject"))?;
    let Some(pod) = pod else { return Ok(None) };
    let Some(seen) = pod_seen(&pod) else {
        return Ok(None);
    };
    let image_id = containers::status(&pod).map(|c| c.image_id.clone());
    let node_name = node.as_ref().map(ResourceExt::name_any).unwrap_or_default();
    let asked = asked_subject(run, trial, &node_name).and_then(|asked| asked.spec);
    let added = asked.and_then(|asked| altered::compare(&asked, &pod).ok());
    let variant = run.variant(trial);
    let facts = SubjectFacts {
        pod: seen.name,
        pod_uid: seen.uid,
        node: node_name,
        image: variant.map(|v| v.subject.image.clone()).unwrap_or_default(),
        image_id: image_id.filter(|id| !id.is_empty()),
        runtime_class: variant.and_then(|v| v.subject.runtime_class.clone()),
        added: added.unwrap_or_default(),
        node_facts: node.as_ref().map(node_facts).unwrap_or_default(),
    };
    Ok(Some((facts, seen.state)))
}

fn node_facts(node: &Node) -> BTreeMap<String, String> {
    let Some(info) = node.status.as_ref().and_then(|s| s.node_info.as_ref()) else {
        return BTreeMap::new();
    };
    let provider = node
        .spec
        .as_ref()
        .and_then(|spec| provider(spec.provider_id.as_deref()?));
    let told = [
        ("architecture", &info.architecture),
        ("containerRuntime", &info.container_runtime_version),
        ("kernel", &info.kernel_version),
        ("kubelet", &info.kubelet_version),
        ("osImage", &info.os_image),
    ]
    .into_iter()
    .map(|(key, value)| (key.to_owned(), value.clone()));
    let provider = provider.map(|name| ("provider".to_owned(), name));
    told.chain(provider).collect()
}

/// The provider of the node, such as `kind`, `aws` or `gce`. The rest of the id is specific to the
/// node.
fn provider(id: &str) -> Option<String> {
    let (name, _) = id.split_once("://")?;
    (!name.is_empty()).then(|| name.to_owned())
}

/// Appends records of one variant and workload to their chunks.
async fn store_all(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    records: Vec<Record>,
) -> Result<(), Error> {
    let mut left: Vec<(Record, Vec<u8>)> = vec![];
    for record in records {
        let bytes = store::encode(&record)?;
        left.push((record, bytes));
    }
    let mut chunk = 0;
    while !left.is_empty() {
        left = fill_chunk(context, run, node, chunk, left).await?;
        chunk += 1;
    }
    Ok(())
}

/// Adds as many records to a chunk as fit, and returns the rest.
async fn fill_chunk(
    context: &Context,
    run: &ValidatedRun,
    node: &str,
    chunk: u32,
    records: Vec<(Record, Vec<u8>)>,
) -> Result<Vec<(Record, Vec<u8>)>, Error> {
    let Some(first) = records.first() else {
        return Ok(vec![]);
    };
    let cell = first.0.trial.cell.clone();
    let name = names::records(run, &cell, chunk);
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    for _ in 0..ATTEMPTS {
        let found = api
            .get_opt(&name)
            .await
            .map_err(failed(format!("read {name}")))?;
        let exists = found.is_some();
        let mut map = found.unwrap_or_else(|| config_map::records(run, &cell, chunk, node));
        if !belongs_to::<BenchmarkRun>(&map.metadata, &run.uid) {
            return Err(Error::NameTaken {
                kind: "ConfigMap",
                name,
            });
        }
        let (mut rest, mut changed, mut counted) = (vec![], false, vec![]);
        for (record, bytes) in &records {
            let ended = Ended::from(&record.outcome);
            match store::add(&mut map, &cell, &record.trial, ended.clone(), bytes.clone()) {
                Added::Yes => {
                    store::note_scouted(&mut map, record);
                    changed = true;
                    counted.push(ended);
                }
                Added::AlreadyThere => {}
                Added::Full => rest.push((record.clone(), bytes.clone())),
            }
        }
        if !changed {
            return Ok(rest);
        }
        let params = PostParams::default();
        let written = if exists {
            api.replace(&name, &params, &map).await
        } else {
            api.create(&params, &map).await
        };
        match written {
            Ok(_) => {
                count(context, &counted);
                return Ok(rest);
            }
            // Another writer was faster: read again, so that none of its data is lost.
            Err(kube::Error::Api(s)) if s.is_conflict() || s.is_already_exists() => {}
            Err(error) => return Err(not_written(name, error)),
        }
    }
    Err(Error::WriteConflict { name })
}

fn count(context: &Context, ended: &[Ended]) {
    for one in ended {
        let outcome = match one {
            Ended::Measured => "measured",
            Ended::Failed(_) => "failed",
            Ended::Skipped(_) => "skipped",
        };
        context.metrics.recorded(outcome, 1);
    }
}
