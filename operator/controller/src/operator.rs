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
        () = context.leader.acquire(pod, &context.ready) => {}
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

/// Works as the only operator of the cluster.
async fn work(context: &Arc<Context>) -> anyhow::Result<()> {
    let other = context.leader.other_installation().await;
    if let Some(other) = other.context("could not look for other installations")? {
        let own = &context.config.operator_namespace;
        anyhow::bail!(
            "wasmbench is already installed in namespace {other}, and both installations would load the \
             same nodes at the same time: uninstall this one (namespace {own}), and let the other one \
             follow more namespaces (watchNamespaces), or uninstall the other one"
        );
    }
    let worked = Box::pin(controller::run(context.clone())).await;
    worked.context("the controller ended")
}

/// Returns when the process is to end. A process that stands by would not notice otherwise.
async fn stopped() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("could not wait for signals")?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.context("could not wait for signals"),
        _ = terminate.recv() => Ok(()),
    }
}
