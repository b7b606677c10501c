//! Works out whose turn it is when anything has changed that this depends on: one task for all runs, and
//! once for many changes at the same time. Wakes the runs whose turn is another one now.

mod runs;
mod sources;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures::channel::mpsc::UnboundedSender;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::runtime::reflector::ObjectRef;
use wasmbench_core::queue::{Cluster, turns};

use crate::context::{Context, GuardedRun, meta_of};
use runs::Runs;

pub use runs::changes;
pub use sources::{Changes, Sources, watch};

/// Changes often come together: a run that ends writes its Lease, its report and its status.
const PAUSE: Duration = Duration::from_millis(100);
/// How often times are worked out anew without a change: runs may take longer than was expected.
const EVERY: Duration = Duration::from_mins(5);

/// Publishes turns whenever they have changed, and wakes the runs that this concerns.
pub async fn run(
    context: &Context,
    sources: &Sources,
    mut changes: Changes,
    woken: UnboundedSender<ObjectRef<GuardedRun>>,
) {
    let noted = async {
        while let Some(()) = changes.next().await {
            context.turns.have_changed();
        }
    };
    futures::future::join(noted, publish_all(context, sources, woken)).await;
}

async fn publish_all(
    context: &Context,
    sources: &Sources,
    woken: UnboundedSender<ObjectRef<GuardedRun>>,
) {
    sources.are_listed().await;
    let mut runs = Runs::default();
    let mut every = tokio::time::interval(EVERY);
    let mut silence: FuturesUnordered<BoxFuture<'_, ()>> = FuturesUnordered::new();
    loop {
        let is_over = tokio::select! {
            () = context.turns.change() => false,
            _ = every.tick() => false,
            Some(()) = silence.next() => true,
        };
        tokio::time::sleep(PAUSE).await;
        // What has changed in the pause is looked at now.
        let _ = context.turns.change().now_or_never();
        let cluster = cluster(context, sources, &mut runs).await;
        let is_quiet = !is_over && context.quiet.left().is_some();
        if publish(context, &cluster, is_quiet, &woken) && silence.is_empty() {
            silence.push(context.quiet.over().boxed());
        }
    }
}

async fn cluster(context: &Context, sources: &Sources, runs: &mut Runs) -> Cluster {
    let leases = sources.leases();
    let holders: HashSet<&str> = leases
        .iter()
        .filter_map(|lease| lease.holder.as_deref())
        .collect();
    let runs = runs.list(context, sources.classes(), &holders).await;
    Cluster {
        runs,
        nodes: sources.nodes(),
        leases,
        served: context.served(),
    }
}

/// Publishes the turns in this cluster, and returns whether some wait for the end of timed windows.
fn publish(
    context: &Context,
    cluster: &Cluster,
    is_quiet: bool,
    woken: &UnboundedSender<ObjectRef<GuardedRun>>,
) -> bool {
    let now = context.clock.now();
    // Also those that wait for nothing now.
    let runs = context.known_runs();
    let runs = runs.iter().map(|run| meta_of(run));
    let known: HashMap<&str, &ObjectMeta> = runs
        .filter_map(|meta| Some((meta.uid.as_deref()?, meta)))
        .collect();
    let uids = known.keys().map(|uid| (*uid).to_owned()).collect();
    let news = context
        .turns
        .publish(turns(cluster, now), uids, is_quiet, now);
    for uid in &news.woken {
        let meta = known.get(uid.as_str());
        let name = meta.and_then(|meta| Some((meta.namespace.as_deref()?, meta.name.as_deref()?)));
        if let Some((namespace, name)) = name {
            // Fails only when the controller has ended.
            let _ = woken.unbounded_send(Context::reference(namespace, name));
        }
    }
    news.is_withheld
}
