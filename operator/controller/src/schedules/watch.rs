//! The controller of schedules, next to that of runs. A schedule is reconciled when it changes,
//! when one of its runs has ended or is gone, and at its next scheduled time. Nothing polls.

use std::sync::Arc;

use futures::StreamExt;
use futures::channel::mpsc::{UnboundedReceiver, unbounded};
use kube::runtime::reflector::store::Writer;
use kube::runtime::reflector::{self, ObjectRef, Store};
use kube::runtime::{Controller, WatchStreamExt, watcher};

use super::reconcile::{on_error, reconcile};
use super::wakes::Wakes;
use crate::context::{Context, ScheduleMeta};
use crate::error::chain;
use crate::namespaces;
use crate::pause::WatchPause;
use crate::quiet::WATCH_SECONDS;
use crate::runs_in_memory;

/// The receiving end of [`Wakes`], for the controller of schedules.
pub struct Woken {
    wakes: UnboundedReceiver<ObjectRef<ScheduleMeta>>,
    all: Store<ScheduleMeta>,
    writer: Writer<ScheduleMeta>,
}

/// Creates both ends.
pub fn wired() -> (Wakes, Woken) {
    let (sender, wakes) = unbounded();
    let (all, writer) = reflector::store();
    let woken = Woken {
        wakes,
        all: all.clone(),
        writer,
    };
    (Wakes::new(sender, all), woken)
}

/// Reconciles all schedules forever.
pub async fn reconcile_all(context: Arc<Context>, woken: Woken) {
    let _ = context.schedules.set(woken.all.clone());
    let config = watcher::Config::default()
        .timeout(WATCH_SECONDS)
        .page_size(runs_in_memory::PAGE);
    let listed = namespaces::as_one(&context, &config, &woken.all, slim)
        .reflect(woken.writer)
        .applied_objects();
    // Concurrency is unlimited: a schedule that waits for silence must not block others.
    Controller::for_stream(listed, woken.all)
        .trigger_backoff(WatchPause)
        .reconcile_on(woken.wakes)
        .run(reconcile, on_error, context)
        .for_each(|result| async {
            if let Err(error) = result {
                // Errors of a reconcile are counted and reported where they happen.
                tracing::debug!(error = chain(&error), "controller of schedules");
            }
        })
        .await;
}

/// Drops fields that may be as long as the spec and are never read.
fn slim(schedule: &mut ScheduleMeta) {
    schedule.metadata.managed_fields = None;
    schedule.metadata.annotations = None;
}
