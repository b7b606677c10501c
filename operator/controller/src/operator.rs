//! The process: it stands by until it leads, works while it leads, and ends when it does so no more. The
//! kubelet starts it again.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

use crate::context::Context;
use crate::controller;

/// Runs the operator in the pod of this name, until a signal stops it or another process leads.
pub async fn run(context: Arc<Context>, pod: &str) -> anyhow::Result<()> {
    tokio::select! {
        acquired = acquire(&context, pod) => acquired?,
        stopped = stopped() => return stopped,
    }
    context.ready.store(false, Ordering::Relaxed);
    let ended = tokio::select! {
        ended = work(&context) => ended,
        why = context.leader.keep() => return Err(why.into()),
    };
    context.leader.release().await;
    ended
}

/// Returns when this process leads. A second installation ends without a Lease of its own, because its admission
/// policies bind the first one as soon as there is one. A call that fails here is made again by whoever leads.
async fn acquire(context: &Context, pod: &str) -> anyhow::Result<()> {
    if let Ok(Some(other)) = context.leader.other_installation().await {
        return Err(already_installed(context, &other));
    }
    context.leader.acquire(pod, &context.ready).await;
    Ok(())
}

/// Works as the only operator of the cluster.
async fn work(context: &Arc<Context>) -> anyhow::Result<()> {
    // Another one may have begun at the same time.
    let other = context.leader.other_installation().await;
    if let Some(other) = other.context("could not look for other installations")? {
        return Err(already_installed(context, &other));
    }
    let worked = Box::pin(controller::run(context.clone())).await;
    worked.context("the controller ended")
}

fn already_installed(context: &Context, other: &str) -> anyhow::Error {
    let own = &context.config.operator_namespace;
    anyhow::anyhow!(
        "wasmbench is already installed in namespace {other}, and both installations would load the same nodes \
         at the same time: uninstall this one (namespace {own}), and let the other one follow more namespaces \
         (watchNamespaces), or uninstall the other one"
    )
}

/// Returns when the process is to end. A process that stands by would not notice otherwise.
async fn stopped() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("could not wait for signals")?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.context("could not wait for signals"),
        _ = terminate.recv() => Ok(()),
    }
}
