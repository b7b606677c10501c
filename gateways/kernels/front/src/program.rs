//! From settings to a serving process, and to its end.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::queue::Queue;
use crate::server::routes;
use crate::settings::Settings;

/// How long the end may take: that of requests, and then that of the executor.
const GRACE: Duration = Duration::from_secs(10);

/// Serves until a signal stops it, or until the executor ends, which is an error.
pub async fn serve(settings: &Settings) -> Result<(), String> {
    // First of all: as process 1 of a container, not even the start could be interrupted otherwise.
    let stopping = stopping()?;
    let mut ended = JoinSet::new();
    let mut interrupted = stopping.clone();
    let queue = tokio::select! {
        queue = Queue::start(settings, &mut ended) => Arc::new(queue?),
        _ = interrupted.wait_for(|stop| *stop) => return Ok(()),
    };
    let listen = settings.listen;
    let no_listener = |error: std::io::Error| format!("could not listen at {listen}: {error}");
    let listener = TcpListener::bind(listen).await.map_err(no_listener)?;
    let address = listener.local_addr().map_err(no_listener)?;
    let _ = writeln!(
        std::io::stdout(),
        "wasmbench: kernel listening on {address}"
    );
    let serving = axum::serve(listener, routes(Arc::clone(&queue)))
        .with_graceful_shutdown(stopped(stopping.clone()));
    tokio::select! {
        served = serving.into_future() => served.map_err(|error| error.to_string())?,
        () = late(stopping) => {}
        Some(why) = ended.join_next() => return Err(why.unwrap_or_else(|error| error.to_string())),
    }
    queue.finish().await;
    // What is still running then is killed when its task is dropped.
    let _ = timeout(GRACE, async { while ended.join_next().await.is_some() {} }).await;
    Ok(())
}

/// A value that becomes true with the first signal to stop.
fn stopping() -> Result<watch::Receiver<bool>, String> {
    let not_caught = |error: std::io::Error| format!("could not handle signals: {error}");
    let mut terminated = signal(SignalKind::terminate()).map_err(not_caught)?;
    let mut interrupted = signal(SignalKind::interrupt()).map_err(not_caught)?;
    let (stop, stopping) = watch::channel(false);
    tokio::spawn(async move {
        tokio::select! {
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
        let _ = stop.send(true);
    });
    Ok(stopping)
}

async fn stopped(mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
}

/// Ends when requests had their time to end after the signal.
async fn late(stopping: watch::Receiver<bool>) {
    stopped(stopping).await;
    sleep(GRACE).await;
}
