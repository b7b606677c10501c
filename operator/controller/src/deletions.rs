//! Sweeps after runs that are deleted, and at start. What a deleted run may still have on a node goes
//! at once; everything else waits for silence. A sweep that fails is repeated: nothing else would
//! notice what is left, and the node would stay occupied.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, Stream, StreamExt, TryStreamExt, pin_mut};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::coordination::v1::Lease;
use kube::ResourceExt;
use kube::core::PartialObjectMeta;
use kube::runtime::reflector::Store;
use kube::runtime::watcher;
use wasmbench_api::{BenchmarkRun, labels};
use wasmbench_core::build::leader::holder;
use wasmbench_core::observed::RunName;

use crate::context::Context;
use crate::error::{Error, chain};
use crate::namespaces;
use crate::quiet::WATCH_SECONDS;
use crate::schedules::Wakes;
use crate::{runs_in_memory, sweep};

/// An event about a run.
type Event = Result<watcher::Event<PartialObjectMeta<BenchmarkRun>>, watcher::Error>;

/// What runs have in the operator's namespace.
pub struct Claims {
    /// Probe Jobs.
    pub jobs: Store<Job>,
    /// Claims on nodes.
    pub leases: Store<Lease>,
}

impl Claims {
    /// Whether the run with this uid has a probe or holds a node.
    fn has(&self, run_uid: &str) -> bool {
        let is_its = |job: &Arc<Job>| {
            job.labels()
                .get(labels::RUN_UID)
                .is_some_and(|uid| uid == run_uid)
        };
        let holds = |lease: &Arc<Lease>| holder(lease) == Some(run_uid);
        self.jobs.state().iter().any(is_its) || self.leases.state().iter().any(holds)
    }
}

/// Sweeps at start and whenever a run is deleted. The queue learns by itself of the nodes that become
/// free.
pub async fn sweep(context: &Context, claims: Claims, wakes: Wakes) {
    let config = watcher::Config::default()
        .timeout(WATCH_SECONDS)
        .page_size(runs_in_memory::PAGE);
    let events = namespaces::events::<PartialObjectMeta<BenchmarkRun>>(context, &config);
    sweep_on(context, events, &claims, &wakes).await;
}

/// Sweeps on `events`, until there are no more.
async fn sweep_on(
    context: &Context,
    events: impl Stream<Item = Event>,
    claims: &Claims,
    wakes: &Wakes,
) {
    pin_mut!(events);
    // Each sweep goes on while events arrive.
    let mut sweeps: FuturesUnordered<BoxFuture<'_, ()>> = FuturesUnordered::new();
    loop {
        tokio::select! {
            event = events.try_next() => match event {
                Ok(Some(watcher::Event::Delete(run))) => {
                    wakes.run_gone(&run.metadata);
                    let run = sweep::run_of(&run.metadata);
                    // Many runs that only waited may be deleted at once: they have left nothing.
                    if context.turns.is_settled(&run.uid) {
                        continue;
                    }
                    let at_once = context.quiet.end(&run.uid) || claims.has(&run.uid);
                    sweeps.push(after(context, run, at_once).boxed());
                }
                // A relist may hide a deletion.
                Ok(Some(watcher::Event::InitDone)) => {
                    wakes.all();
                    sweeps.push(orphans(context).boxed());
                }
                Ok(Some(_)) => {}
                Ok(None) => return,
                Err(error) => tracing::debug!(error = chain(&error), "watch for deletions"),
            },
            Some(()) = sweeps.next() => {}
        }
    }
}

/// Sweeps after a run that was deleted, `at_once` or when all windows are over.
async fn after(context: &Context, run: RunName, at_once: bool) {
    if !at_once {
        context.quiet.over().await;
    }
    while is_to_repeat(context, &run.uid, sweep::run_is_gone(context, &run).await).await {}
}

async fn orphans(context: &Context) {
    while is_to_repeat(context, "orphans", sweep::orphans(context).await).await {}
}

/// Whether a sweep failed; if so, returns when it is to be repeated.
async fn is_to_repeat(context: &Context, of: &str, swept: Result<(), Error>) -> bool {
    let Err(error) = swept else {
        context.backoff.succeeded(of);
        return false;
    };
    tracing::warn!(of, error = chain(&error), "could not sweep");
    tokio::time::sleep(context.backoff.failed(of, false)).await;
    true
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Mutex;
    use std::time::Duration;

    use futures::stream;
    use http::{Request, Response};
    use kube::Client;
    use kube::client::Body;
    use kube::runtime::reflector;
    use serde_json::{Value, json};
    use tokio::time::Instant;
    use wasmbench_core::config::OperatorConfig;
    use wasmbench_model::images::Images;

    use super::*;
    use crate::schedules;

    const MINUTE: Duration = Duration::from_mins(1);

    /// A context whose API server has nothing, and fails the first calls. Also the times of all
    /// calls, counted from now.
    fn server(failures: usize) -> (Arc<Context>, Arc<Mutex<Vec<Duration>>>) {
        let calls = Arc::new(Mutex::new(vec![]));
        let (noted, begun) = (calls.clone(), Instant::now());
        let service = tower::service_fn(move |_: Request<Body>| {
            let mut calls = noted.lock().unwrap();
            calls.push(begun.elapsed());
            let code = if calls.len() > failures { 200 } else { 500 };
            let body = if code == 200 {
                json!({ "apiVersion": "v1", "kind": "List", "metadata": {}, "items": [] })
            } else {
                json!({ "kind": "Status", "status": "Failure", "code": 500, "message": "away",
                    "reason": "", "metadata": {} })
            };
            let body = Body::from(serde_json::to_vec(&body).unwrap());
            async move { Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap()) }
        });
        let config = json!({
            "operatorNamespace": "ops", "coldStartServiceAccount": "cold",
            "images": Images::in_registry("example.com", "1"),
        });
        let config: OperatorConfig = serde_json::from_value(config).unwrap();
        (Context::new(Client::new(service, "default"), config), calls)
    }

    /// Claims with these Jobs.
    fn claims(jobs: &[Value]) -> Claims {
        let (job_store, mut writer) = reflector::store();
        for job in jobs {
            let job: Job = serde_json::from_value(job.clone()).unwrap();
            writer.apply_watcher_event(&watcher::Event::Apply(job));
        }
        let (leases, _) = reflector::store();
        Claims {
            jobs: job_store,
            leases,
        }
    }

    fn run(uid: &str) -> PartialObjectMeta<BenchmarkRun> {
        let metadata = json!({ "name": "r", "namespace": "team-a", "uid": uid });
        serde_json::from_value(json!({ "metadata": metadata })).unwrap()
    }

    /// Sweeps for ten minutes, in which `deleted` is deleted first and other runs have an event
    /// every second.
    async fn sweeps(context: &Context, claims: &Claims, deleted: &str) {
        let (wakes, _woken) = schedules::wired();
        let first: Event = Ok(watcher::Event::Delete(run(deleted)));
        let others = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let busy: Event = Ok(watcher::Event::Apply(run("busy")));
            Some((busy, ()))
        });
        let events = stream::iter([first]).chain(others);
        let all = sweep_on(context, events, claims, &wakes);
        let _ = tokio::time::timeout(10 * MINUTE, all).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_sweep_waits_for_the_end_of_a_window_and_not_for_the_end_of_events() {
        let (context, calls) = server(0);
        let trial = "a/hello/warm/b1".parse().unwrap();
        context.quiet.begin("another", &trial, MINUTE);
        sweeps(&context, &claims(&[]), "waiting").await;
        let calls = calls.lock().unwrap();
        assert_eq!(calls.first(), Some(&MINUTE), "{calls:?}");
        assert_eq!(calls.len(), 3, "Jobs, pods and Leases, once: {calls:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_with_a_job_is_swept_at_once() {
        let (context, calls) = server(0);
        let trial = "a/hello/warm/b1".parse().unwrap();
        context.quiet.begin("another", &trial, MINUTE);
        let metadata = json!({
            "name": "probe", "namespace": "ops", "labels": { labels::RUN_UID: "measuring" },
        });
        let claims = claims(&[json!({ "metadata": metadata })]);
        sweeps(&context, &claims, "measuring").await;
        assert_eq!(calls.lock().unwrap().first(), Some(&Duration::ZERO));
    }

    #[tokio::test(start_paused = true)]
    async fn a_run_that_only_waited_is_not_swept() {
        let (context, calls) = server(0);
        context.turns.look("waiting");
        context.turns.settle("waiting");
        sweeps(&context, &claims(&[]), "waiting").await;
        assert!(calls.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_sweep_that_fails_is_repeated_until_it_succeeds() {
        let (context, calls) = server(3);
        sweeps(&context, &claims(&[]), "gone").await;
        let calls = calls.lock().unwrap();
        let after: Vec<u64> = calls.iter().map(Duration::as_secs).collect();
        assert_eq!(
            after,
            [0, 1, 3, 7, 7, 7],
            "three failures, then all three calls"
        );
    }
}
