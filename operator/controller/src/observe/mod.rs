//! Reads everything that a plan for one run depends on. Live lists, not caches, except for the
//! queue of runs: a plan made from a stale view could measure a trial twice.

pub mod bodies;
mod convert;
mod events;
mod found;
mod late;
mod occupants;
mod records;

use std::collections::BTreeMap;

use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Node, Pod};
use k8s_openapi::api::node::v1::RuntimeClass;
use kube::api::{ListParams, PostParams};
use kube::{Api, ResourceExt};
use wasmbench_api::owner::belongs_to;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::selector;
use wasmbench_core::demands::{RuntimeClassLabels, demands};
use wasmbench_core::lifetime::{recorded_node, unmatched_since};
use wasmbench_core::observed::{Demands, NodeSeen, Observed, RunSeen, Standing};
use wasmbench_core::plan::may_take;
use wasmbench_core::validate::ValidatedRun;
use wasmbench_model::store;
use wasmbench_model::wire::scout::Scouted;

use crate::context::Context;
use crate::error::Error;

pub use convert::{end_of, pod_seen};
pub use events::{why_no_pod, with_event};
pub use found::found;
pub use late::{is_late, node_of_job};
pub use records::read_summary;

/// Reads everything that matters for `run`, which was `written` so.
pub async fn observe(
    context: &Context,
    written: &BenchmarkRun,
    run: &ValidatedRun,
) -> Result<Observed, Error> {
    let (pods, (probe_jobs, probe_pods), leases, records, classes, cold_starts_forbidden, bodies) =
        futures::try_join!(
            run_pods(context, run),
            probes(context),
            leases(context),
            records(context, run),
            runtime_classes(context),
            cold_starts_forbidden(context, run),
            bodies::digests(context, written, run),
        )?;
    let held = leases
        .iter()
        .find(|lease| lease.holder.as_deref() == Some(&run.uid))
        .map(|lease| lease.node.clone());
    // A run that holds a node does not choose again, so a large cluster's node list is not read.
    let nodes = match &held {
        Some(name) => node(context, name).await?.into_iter().collect(),
        None => nodes(context).await?,
    };
    let node = held.unwrap_or_default();
    let occupants = occupants::list(&probe_jobs, &probe_pods, &run.uid);
    let (late, probe_jobs) = late::split(context, probe_jobs);
    let limits = &context.config.limits;
    let most = u64::from(limits.record_mebibytes) << 20;
    let mut observed = Observed {
        nodes,
        demands: demands(&run.spec, &context.config, &classes, records.node),
        unmatched_since: unmatched_since(written),
        late: late::to_remove(&late, &run.uid, &leases),
        leases,
        runs: context
            .known_runs()
            .iter()
            .filter_map(|run| run_seen(context, &classes, run.0.as_ref().ok()?))
            .collect(),
        served: context.served(),
        runtime_classes: classes.into_keys().collect(),
        cold_starts_forbidden,
        subjects: convert::subjects(&pods, run, &node),
        cold_subjects: convert::cold_subjects(&pods, run),
        upstreams: convert::upstreams(&pods, run, &context.config.images, &node),
        occupants,
        probes: convert::probes(&of_run(probe_jobs, &run.uid), &of_run(probe_pods, &run.uid)),
        blocks: 0,
        scatter: None,
        planned_blocks: None,
        records: records.index,
        scouted: records.scouted,
        bodies,
        records_full: records.bytes >= most,
        report: records.report,
    };
    records::between_blocks(context, written, run, &mut observed).await?;
    if may_take(run, &observed) {
        observed
            .occupants
            .extend(occupants::pods(context, &run.uid).await?);
    }
    Ok(observed)
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

async fn leases(context: &Context) -> Result<Vec<wasmbench_core::observed::LeaseSeen>, Error> {
    let api: Api<Lease> =
        Api::namespaced(context.client.clone(), &context.config.operator_namespace);
    let wanted = format!("{}={}", labels::COMPONENT, labels::COMPONENT_NODE_LEASE);
    let list = api
        .list(&ListParams::default().labels(&wanted))
        .await
        .map_err(failed("the claims on nodes"))?;
    Ok(list.items.iter().filter_map(convert::lease).collect())
}

/// What is stored for a run.
#[derive(Default)]
struct Records {
    index: BTreeMap<wasmbench_model::wire::record::TrialId, store::Ended>,
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

/// All of them, because runs that come first may use others than this one does.
async fn runtime_classes(context: &Context) -> Result<RuntimeClassLabels, Error> {
    let api: Api<RuntimeClass> = Api::all(context.client.clone());
    let list = api
        .list(&ListParams::default())
        .await
        .map_err(failed("the RuntimeClasses"))?;
    let labels = |class: RuntimeClass| {
        let name = class.name_any();
        let selector = class.scheduling.and_then(|it| it.node_selector);
        (name, selector.unwrap_or_default())
    };
    Ok(list.items.into_iter().map(labels).collect())
}

/// Whether the cold-start account lacks the right to create pods in the run's namespace. The API
/// server decides, so a RoleBinding counts whoever created it.
async fn cold_starts_forbidden(context: &Context, run: &ValidatedRun) -> Result<bool, Error> {
    let sweeps = &run.spec.sweeps;
    if sweeps.cold_start.is_none() && sweeps.density.is_none() {
        return Ok(false);
    }
    let config = &context.config;
    let review = SubjectAccessReview {
        spec: SubjectAccessReviewSpec {
            user: Some(format!(
                "system:serviceaccount:{}:{}",
                config.operator_namespace, config.cold_start_service_account
            )),
            resource_attributes: Some(ResourceAttributes {
                namespace: Some(run.namespace.clone()),
                verb: Some("create".into()),
                resource: Some("pods".into()),
                ..ResourceAttributes::default()
            }),
            ..SubjectAccessReviewSpec::default()
        },
        ..SubjectAccessReview::default()
    };
    let api: Api<SubjectAccessReview> = Api::all(context.client.clone());
    let answer = api
        .create(&PostParams::default(), &review)
        .await
        .map_err(failed("the rights of the account of cold starts"))?;
    Ok(!answer.status.is_some_and(|status| status.allowed))
}

async fn node(context: &Context, name: &str) -> Result<Option<NodeSeen>, Error> {
    let api: Api<Node> = Api::all(context.client.clone());
    let found = api.get_opt(name).await.map_err(failed("the node"))?;
    Ok(found.as_ref().map(convert::node))
}

async fn nodes(context: &Context) -> Result<Vec<NodeSeen>, Error> {
    let api: Api<Node> = Api::all(context.client.clone());
    let list = api
        .list(&ListParams::default())
        .await
        .map_err(failed("the nodes"))?;
    Ok(list.items.iter().map(convert::node).collect())
}

fn run_seen(
    context: &Context,
    classes: &RuntimeClassLabels,
    run: &BenchmarkRun,
) -> Option<RunSeen> {
    let meta = &run.metadata;
    let uid = meta.uid.as_ref()?;
    let ended =
        run.is_finished() || meta.deletion_timestamp.is_some() || context.has_left_queue(uid);
    Some(RunSeen {
        uid: uid.clone(),
        name: format!("{}/{}", meta.namespace.as_deref()?, meta.name.as_deref()?),
        created: meta.creation_timestamp.as_ref()?.0,
        standing: if ended {
            Standing::Ended
        } else if run.spec.suspend || context.backoff.is_lasting(uid) {
            Standing::Suspended
        } else {
            Standing::Active
        },
        demands: if ended {
            Demands::default()
        } else {
            demands(&run.spec, &context.config, classes, recorded_node(run))
        },
    })
}
