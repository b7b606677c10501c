//! Reads everything that a plan for one run depends on. Live lists, not caches, except for the run's
//! turn: a plan made from a stale view could measure a trial twice.

pub mod bodies;
mod convert;
mod events;
mod foreign_pod;
mod found;
mod late;
mod occupants;
mod records;
mod rights;
mod targets;

use std::collections::BTreeMap;

use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use wasmbench_api::owner::belongs_to;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::{component_selector, selector};
use wasmbench_core::demands::{RuntimeClassLabels, TemplateLabels, demands, with_templates};
use wasmbench_core::lifetime::unmatched_since;
use wasmbench_core::observed::{Observed, ObservedLease, ObservedNode, Outlook};
use wasmbench_core::plan::relevant_nodes;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::wire::scout::Scouted;
use wasmbench_model::{pace, store};

use crate::context::Context;
use crate::error::Error;

pub use convert::{
    class_labels, end_of, lease as observed_lease, node as observed_node, observed_pod,
};
pub use events::{why_no_pod, with_event};
pub use foreign_pod::subject as foreign_subject;
pub use found::found;
pub use late::{is_late, node_of_job};
pub use records::read_summary;
pub use rights::forbidden;

/// What matters for a run that only waits for its turn and has nothing in the cluster, without reading
/// anything. `None` if that may not be so.
pub fn waiting(context: &Context, written: &BenchmarkRun, run: &ValidatedRun) -> Option<Observed> {
    let turn = context.turns.turn(&run.uid)?;
    let waits = matches!(turn.outlook, Outlook::Later(_) | Outlook::Unavailable(_));
    let only_waits = waits && !run.spec.suspend && context.turns.is_settled(&run.uid);
    only_waits.then(|| Observed {
        turn: Some(turn),
        bodies: bodies::known(written),
        ..Observed::default()
    })
}

/// Reads everything that matters for `run`, which was `written` so.
pub async fn observe(
    context: &Context,
    written: &BenchmarkRun,
    run: &ValidatedRun,
) -> Result<Observed, Error> {
    let own_claims = component_selector(&run.uid, labels::COMPONENT_NODE_LEASE);
    let (pods, (probe_jobs, probe_pods), leases, records, classes, forbidden, bodies) = futures::try_join!(
        run_pods(context, run),
        probes(context),
        claims(context, &own_claims),
        records(context, run),
        runtime_classes(context),
        forbidden(context, run),
        bodies::digests(context, written, run),
    )?;
    let mine = |lease: &&ObservedLease| lease.holder.as_deref() == Some(&run.uid);
    let held = leases.iter().find(mine).map(|lease| lease.node.clone());
    let may_take = held.is_none() && !run.spec.suspend;
    let turn = context.turns.turn(&run.uid).filter(|_| may_take);
    let node = held.unwrap_or_default();
    let targets = targets::read(context, run, &leases, &node).await?;
    context.note_templates(&run.uid, &targets.templates);
    let demands = demands(&run.spec, &context.config, &classes, records.node);
    let occupants = occupants::list(&probe_jobs, &probe_pods, &run.uid);
    let (late, probe_jobs) = late::split(context, probe_jobs);
    let late = late::to_remove(context, &late, &run.uid, &leases).await?;
    let limits = &context.config.limits;
    let most = u64::from(limits.record_mebibytes) << 20;
    let mut observed = Observed {
        nodes: vec![],
        demands: with_templates(demands, &targets.templates),
        unmatched_since: unmatched_since(written),
        late,
        leases,
        turn,
        gone: context.turns.gone(),
        runtime_classes: classes.into_keys().collect(),
        forbidden,
        subjects: convert::subjects(&pods, run, &node),
        cold_subjects: convert::cold_subjects(&pods, run),
        scaled_subjects: targets.subjects,
        targets: targets.observed,
        upstreams: convert::upstreams(&pods, run, &context.config.images, &node),
        occupants,
        probes: convert::probes(&of_run(probe_jobs, &run.uid), &of_run(probe_pods, &run.uid)),
        blocks: 0,
        scatter: None,
        doubts: None,
        planned_blocks: None,
        records: records.index,
        noted: records.noted,
        scouted: records.scouted,
        bodies,
        records_full: records.bytes >= most,
        report: records.report,
    };
    records::between_blocks(context, written, run, &mut observed).await?;
    look_at_nodes(context, run, &mut observed).await?;
    Ok(observed)
}

/// Reads the nodes that matter, and what other runs have there.
async fn look_at_nodes(
    context: &Context,
    run: &ValidatedRun,
    observed: &mut Observed,
) -> Result<(), Error> {
    let turn = observed.turn.as_ref();
    let may_take = turn.is_some_and(|turn| matches!(turn.outlook, Outlook::Free(_)));
    if may_take {
        let pods = occupants::pods(context, &run.uid).await?;
        observed.occupants.extend(pods);
    }
    let relevant = relevant_nodes(&run.uid, observed);
    for name in &relevant {
        observed.nodes.extend(node(context, name).await?);
    }
    for occupant in &mut observed.occupants {
        let run_uid = &occupant.run.uid;
        occupant.lives = context.goes_on(run_uid);
        let is_in_the_way = may_take && relevant.contains(&occupant.node);
        // It may wait for its turn or be suspended, and know nothing of what it has left.
        if is_in_the_way && occupant.lives && !context.quiet.is_open(run_uid) {
            context.turns.stir(run_uid);
        }
    }
    Ok(())
}

/// Reads which nodes the templates of the objects demand that the variants of `run` scale.
pub async fn templates(context: &Context, run: &ValidatedRun) -> Result<TemplateLabels, Error> {
    let targets = targets::read(context, run, &[], "").await?;
    Ok(targets.templates)
}

fn failed(what: &'static str) -> impl Fn(kube::Error) -> Error {
    move |source| Error::Observe { what, source }
}

async fn run_pods(context: &Context, run: &ValidatedRun) -> Result<Vec<Pod>, Error> {
    let api: Api<Pod> = Api::namespaced(context.client.clone(), &run.namespace);
    let params = ListParams::default().labels(&selector(&run.uid));
    Ok(api
        .list(&params)
        .await
        .map_err(failed("the run's pods"))?
        .items)
}

/// The probes of all runs: a run starts nothing in parallel with another one's.
async fn probes(context: &Context) -> Result<(Vec<Job>, Vec<Pod>), Error> {
    let namespace = &context.config.operator_namespace;
    let jobs: Api<Job> = Api::namespaced(context.client.clone(), namespace);
    let pods: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let probes = format!("{}={}", labels::COMPONENT, labels::COMPONENT_PROBE);
    let params = ListParams::default().labels(&probes);
    let (jobs, pods) =
        futures::try_join!(jobs.list(&params), pods.list(&params)).map_err(failed("the probes"))?;
    Ok((jobs.items, pods.items))
}

fn of_run<K: ResourceExt>(objects: Vec<K>, run_uid: &str) -> Vec<K> {
    let mine = |object: &K| {
        let found = object.labels().get(labels::RUN_UID);
        found.is_some_and(|uid| uid == run_uid)
    };
    objects.into_iter().filter(mine).collect()
}

/// The claims on nodes that are `wanted`. A pass needs those that its run has, or was the last to have: the
/// others are the queue's business.
async fn claims(context: &Context, wanted: &str) -> Result<Vec<ObservedLease>, Error> {
    let api: Api<Lease> =
        Api::namespaced(context.client.clone(), &context.config.operator_namespace);
    let list = api
        .list(&ListParams::default().labels(wanted))
        .await
        .map_err(failed("the claims on nodes"))?;
    Ok(list.items.iter().filter_map(convert::lease).collect())
}

/// What is stored for a run.
#[derive(Default)]
struct Records {
    index: BTreeMap<wasmbench_model::wire::record::TrialId, store::Ended>,
    noted: BTreeMap<wasmbench_model::wire::record::TrialId, pace::Noted>,
    scouted: BTreeMap<String, Vec<Scouted>>,
    bytes: u64,
    /// The node that the records come from.
    node: Option<String>,
    report: bool,
}

/// Reads only the metadata of the records: their contents may be megabytes.
async fn records(context: &Context, run: &ValidatedRun) -> Result<Records, Error> {
    let api: Api<ConfigMap> = Api::namespaced(context.client.clone(), &run.namespace);
    let params = ListParams::default().labels(&selector(&run.uid));
    let list = api
        .list_metadata(&params)
        .await
        .map_err(failed("the run's records"))?;
    let mine = list
        .items
        .iter()
        .filter(|map| belongs_to::<BenchmarkRun>(&map.metadata, &run.uid));
    let mut records = Records::default();
    for map in mine {
        match map.labels().get(labels::COMPONENT).map(String::as_str) {
            Some(labels::COMPONENT_RECORDS) => {
                let annotations = map.annotations();
                records
                    .index
                    .extend(store::index_of(map.labels(), annotations));
                records
                    .noted
                    .extend(pace::noted_in(map.labels(), annotations));
                records
                    .scouted
                    .extend(store::scouted_of(map.labels(), annotations));
                records.bytes += store::bytes_of(annotations);
                records.node = records
                    .node
                    .or_else(|| annotations.get(labels::NODE).cloned());
            }
            Some(labels::COMPONENT_REPORT) => records.report = true,
            _ => {}
        }
    }
    Ok(records)
}

async fn runtime_classes(context: &Context) -> Result<RuntimeClassLabels, Error> {
    let api: Api<RuntimeClass> = Api::all(context.client.clone());
    let list = api
        .list(&ListParams::default())
        .await
        .map_err(failed("the RuntimeClasses"))?;
    Ok(list.items.iter().map(convert::class_labels).collect())
}

async fn node(context: &Context, name: &str) -> Result<Option<ObservedNode>, Error> {
    let api: Api<Node> = Api::all(context.client.clone());
    let found = api.get_opt(name).await.map_err(failed("the node"))?;
    Ok(found.as_ref().map(convert::node))
}
