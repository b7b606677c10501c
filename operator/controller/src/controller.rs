//! What wakes the operator up: changes to runs, the few events of their pods and Jobs that a plan
//! depends on, and turns in the queue. Nothing polls. Schedules have their own controller,
//! which this one wakes when a run has ended.

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::ListParams;
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::{Controller, PredicateConfig, WatchStreamExt, controller, watcher};
use kube::{Api, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::leader::holder;
use wasmbench_core::observed::PodState;

use crate::context::{Context, GuardedRun, GuardedSchedule, meta_of};
use crate::deletions::{self, Claims};
use crate::error::chain;
use crate::namespaces::{self, Namespaced};
use crate::observe::{is_late, node_of_job, observed_pod};
use crate::pause::WatchPause;
use crate::queue;
use crate::quiet::WATCH_SECONDS;
use crate::reconcile::{on_error, reconcile};
use crate::runs_in_memory;
use crate::schedules;

/// An object that a watch reported.
type Watched<K> = Result<K, watcher::Error>;

/// How many runs are reconciled at the same time.
const CONCURRENCY: u16 = 8;

/// Reconciles all runs until a signal stops it.
pub async fn run(context: Arc<Context>) -> anyhow::Result<()> {
    listable::<GuardedRun>(&context, "BenchmarkRuns").await?;
    listable::<GuardedSchedule>(&context, "BenchmarkSchedules").await?;
    let (wakes, woken_schedules) = schedules::wired();
    let config = watcher::Config::default().timeout(WATCH_SECONDS);
    let ours = config.clone().labels(labels::RUN_UID);
    let pods = config.clone().labels(&watched_pods());
    let own_namespace = context.config.operator_namespace.clone();
    let (store, writer) = reflector::store();
    let paged = config.clone().page_size(runs_in_memory::PAGE);
    let when_ended = wakes.clone();
    let (context_of_runs, mut changes) = (context.clone(), queue::changes());
    let listed = namespaces::as_one(&context, &paged, &store, runs_in_memory::slim)
        .reflect(writer)
        .inspect_ok(move |event| changes(&context_of_runs, event))
        .applied_objects()
        .inspect_ok(move |run| when_ended.run_observed(run))
        .predicate_filter(
            |run: &GuardedRun| Some(significance(run)),
            PredicateConfig::default(),
        );
    let (woken, turns) = futures::channel::mpsc::unbounded();
    let mut controller = Controller::for_stream(listed, store.clone())
        .trigger_backoff(WatchPause)
        .with_config(controller::Config::default().concurrency(CONCURRENCY))
        .reconcile_on(turns);
    let _ = context.runs.set(store.clone());
    let (jobs, job_events) = kept(
        Api::namespaced(context.client.clone(), &own_namespace),
        ours,
    );
    for api in namespaces::with_own::<Pod>(&context) {
        let context = context.clone();
        controller = controller.watches(api, pods.clone(), move |pod| {
            wake(&context, &pod.metadata, || run_of_pod(&pod))
        });
    }
    let (sources, source_changes) = queue::watch(&context);
    let (context_of_jobs, leases) = (context.clone(), sources.leases.clone());
    let controller = controller
        .watches_stream(job_events, move |job: Job| {
            let run = wake(&context_of_jobs, &job.metadata, || run_of_job(&job));
            if is_late(&context_of_jobs, &job) {
                return run_that_removes(&job, &leases.state());
            }
            run
        })
        .shutdown_on_signal();
    let ready = async {
        if store.wait_until_ready().await.is_ok() {
            sources.are_listed().await;
            context.ready.store(true, Ordering::Relaxed);
            tracing::info!("all runs are listed");
        }
    };
    let runs = controller
        .run(reconcile, on_error, context.clone())
        .for_each(|result| async {
            if let Err(error) = result {
                // Errors of a reconcile are counted and reported where they happen.
                tracing::debug!(error = chain(&error), "controller");
            }
        });
    let schedules = Box::pin(schedules::reconcile_all(context.clone(), woken_schedules));
    let claims = Claims {
        jobs,
        leases: sources.leases.clone(),
    };
    let swept = deletions::sweep(&context, claims, wakes);
    let queued = queue::run(&context, &sources, source_changes, woken);
    let others = futures::future::join4(ready, swept, schedules, queued);
    // The controller of runs ends on a signal, and everything else with it. A schedule repeats
    // whatever was interrupted.
    tokio::select! {
        () = runs => {}
        ((), (), (), ()) = others => {}
    }
    tracing::info!("wasmbench-operator ends");
    Ok(())
}

/// Checks that the kinds to watch exist and that the operator may list them. A listed namespace that
/// refuses is logged and ignored: whoever removes theirs must not stop the operator for the others.
async fn listable<K: Namespaced>(context: &Context, kinds: &str) -> anyhow::Result<()> {
    let one = ListParams::default().limit(1);
    for api in namespaces::apis::<K>(context) {
        match api.list_metadata(&one).await.map(drop) {
            Err(kube::Error::Api(status)) if status.is_forbidden() && api.namespace().is_some() => {
                let namespace = api.namespace();
                tracing::warn!(
                    namespace,
                    "{kinds} cannot be listed in a namespace of watchNamespaces: is it there, and its RoleBinding?"
                );
            }
            listed => listed.with_context(|| {
                format!(
                    "could not list {kinds}: install the CRDs (chart value crds.enabled) and check the \
                     operator's permissions"
                )
            })?,
        }
    }
    Ok(())
}

/// Selector of the pods to watch. Probes create and delete cold subjects themselves, and each event
/// would cost CPU time in the middle of a sample.
fn watched_pods() -> String {
    format!(
        "{},{}!={}",
        labels::RUN_UID,
        labels::COMPONENT,
        labels::COMPONENT_COLD_SUBJECT
    )
}

/// A watch whose objects are also kept.
fn kept<K>(api: Api<K>, config: watcher::Config) -> (Store<K>, impl Stream<Item = Watched<K>>)
where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static,
{
    let (store, writer) = reflector::store();
    let events = watcher(api, config).reflect(writer);
    (store, events.touched_objects())
}

fn run_of(object: &impl ResourceExt) -> Option<ObjectRef<GuardedRun>> {
    let annotations = object.annotations();
    let namespace = annotations.get(labels::RUN_NAMESPACE)?;
    Some(Context::reference(
        namespace,
        annotations.get(labels::RUN_NAME)?,
    ))
}

/// The run of a pod, if the pod's state may change a plan. A pod without a node is new: whether it
/// is what was requested shows before it starts. A running probe is ignored: inside its timed
/// window the operator does nothing.
fn run_of_pod(pod: &Pod) -> Option<ObjectRef<GuardedRun>> {
    let observed = observed_pod(pod)?;
    let probe = pod
        .labels()
        .get(labels::COMPONENT)
        .is_some_and(|c| c == labels::COMPONENT_PROBE);
    let matters = observed.deleting.is_some()
        || observed.node.is_none()
        || match &observed.state {
            PodState::Ended { .. } => true,
            PodState::Pending(waiting) => waiting.is_some(),
            PodState::Running => !probe && observed.ip.is_some(),
        };
    matters.then(|| run_of(pod)).flatten()
}

/// The run of a Job that has ended or is being deleted. A Job can fail without its pod reporting
/// it.
fn run_of_job(job: &Job) -> Option<ObjectRef<GuardedRun>> {
    let conditions = job
        .status
        .as_ref()
        .and_then(|status| status.conditions.as_ref());
    let ended = conditions.into_iter().flatten().any(|c| c.status == "True");
    let deleting = job.metadata.deletion_timestamp.is_some();
    (ended || deleting).then(|| run_of(job)).flatten()
}

/// The run that removes a late probe: the one that holds its node, or its own. If that has changed since,
/// it learns so when it looks.
fn run_that_removes(job: &Job, claims: &[Arc<Lease>]) -> Option<ObjectRef<GuardedRun>> {
    let node = node_of_job(job)?;
    let is_held = |lease: &&Arc<Lease>| {
        let of_node = lease.annotations().get(labels::NODE);
        of_node.is_some_and(|found| found == node) && holder(lease).is_some()
    };
    match claims.iter().find(is_held) {
        Some(lease) => run_of(&**lease),
        None => run_of(job),
    }
}

/// What makes a change of a run one that its reconcile has to look at. The operator's own writes to the
/// status do not, except the one that ends the run: from then on it only expires.
fn significance(run: &GuardedRun) -> u64 {
    let meta = meta_of(run);
    let is_finished = run.0.as_ref().is_ok_and(BenchmarkRun::is_finished);
    let is_deleted = meta.deletion_timestamp.is_some();
    let mut hasher = DefaultHasher::new();
    (meta.generation, &meta.labels, is_deleted, is_finished).hash(&mut hasher);
    hasher.finish()
}

/// The run to wake for an object of this metadata. If there is one, the run has something in the cluster.
fn wake(
    context: &Context,
    meta: &ObjectMeta,
    run: impl FnOnce() -> Option<ObjectRef<GuardedRun>>,
) -> Option<ObjectRef<GuardedRun>> {
    let uid = meta
        .labels
        .as_ref()
        .and_then(|all| all.get(labels::RUN_UID));
    context.turns.unsettle(uid.map_or("", String::as_str));
    if context.quiet.is_of_another_trial(meta) {
        return None;
    }
    run()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_late_probe_wakes_the_run_that_holds_its_node_or_else_its_own() {
        let annotations = |run: &str| json!({ labels::RUN_NAMESPACE: "team-a", labels::RUN_NAME: run, labels::NODE: "bench-1" });
        let template = json!({ "spec": { "containers": [], "nodeName": "bench-1" } });
        let job = json!({
            "metadata": { "name": "probe", "annotations": annotations("own") },
            "spec": { "template": template },
        });
        let job: Job = serde_json::from_value(job).unwrap();
        let lease = |holder: &Value| {
            let lease = json!({
                "metadata": { "name": "wasmbench-node-bench-1", "annotations": annotations("holder") },
                "spec": { "holderIdentity": holder },
            });
            Arc::new(serde_json::from_value::<Lease>(lease).unwrap())
        };
        let woken = |claims: &[Arc<Lease>]| run_that_removes(&job, claims).unwrap().name;
        assert_eq!(woken(&[lease(&json!("uid"))]), "holder");
        assert_eq!(woken(&[lease(&Value::Null)]), "own");
        assert_eq!(woken(&[]), "own");
    }

    fn wakes(component: &str, spec: &Value, status: &Value) -> bool {
        let pod = json!({
            "metadata": {
                "name": "p", "uid": "1", "labels": { labels::COMPONENT: component },
                "annotations": { labels::RUN_NAMESPACE: "team-a", labels::RUN_NAME: "r" },
            },
            "spec": spec, "status": status,
        });
        run_of_pod(&serde_json::from_value(pod).unwrap()).is_some()
    }

    #[test]
    fn a_new_pod_is_looked_at_before_it_starts_and_a_running_probe_is_not_touched() {
        let (new, there) = (json!({}), json!({ "nodeName": "bench-1" }));
        let running = |name: &str| {
            json!({ "podIP": "10.0.0.8", "containerStatuses": [{
                "name": name, "image": "a", "imageID": "", "ready": true, "restartCount": 0,
                "state": { "running": {} },
            }] })
        };
        for component in [labels::COMPONENT_SUBJECT, labels::COMPONENT_PROBE] {
            assert!(wakes(component, &new, &json!({})), "{component}");
            assert!(!wakes(component, &there, &json!({})), "{component}");
        }
        assert!(wakes("subject", &there, &running("subject")));
        assert!(!wakes("probe", &there, &running("probe")));
    }

    fn run(generation: i64, finished: &str, message: &str) -> GuardedRun {
        serde_json::from_value(json!({
            "apiVersion": "wasmbench.dev/v1alpha1", "kind": "BenchmarkRun",
            "metadata": { "name": "r", "namespace": "team-a", "uid": "1", "generation": generation },
            "spec": { "variants": [], "workloads": [], "sweeps": {} },
            "status": { "conditions": [{
                "type": "Finished", "status": finished, "reason": "Because", "message": message,
                "lastTransitionTime": "2026-01-01T00:00:00Z",
            }] },
        }))
        .unwrap()
    }

    #[test]
    fn a_run_is_not_woken_by_its_own_status_until_it_has_finished() {
        let waiting = significance(&run(1, "Unknown", "number 3"));
        assert_eq!(significance(&run(1, "Unknown", "number 2")), waiting);
        assert_ne!(significance(&run(2, "Unknown", "number 3")), waiting);
        assert_ne!(significance(&run(1, "True", "it has ended")), waiting);
    }
}
