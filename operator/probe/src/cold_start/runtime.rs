//! The connection to the node's container runtime, if the administrator allows it.

use std::path::Path;
use std::time::Duration;

use futures::channel::mpsc::UnboundedReceiver;
use tokio::time::{Instant, sleep};

use super::failure;
use crate::containerd::events::RuntimeEvent;
use crate::containerd::{Containerd, Error};
use crate::output::progress;
use wasmbench_model::wire::failure::{Failure, FailureReason};

/// A containerd that restarts, or is slow on a busy node, responds within this time.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(500);

/// containerd and the events that it has sent.
pub struct Runtime {
    pub(super) containerd: Containerd,
    pub(super) events: UnboundedReceiver<RuntimeEvent>,
}

impl Runtime {
    /// Connects to containerd's socket and follows its events.
    pub async fn connect(socket: &Path) -> Result<Self, Failure> {
        let connected = Containerd::connect(socket).await;
        let containerd = connected.map_err(|error| unavailable(&error))?;
        let events = containerd.events();
        Ok(Self { containerd, events })
    }
}

/// Retries an attempt for a while if it failed only because containerd was unavailable. For untimed
/// work only.
pub async fn patiently<T>(
    mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
) -> Result<T, Failure> {
    let began = Instant::now();
    loop {
        match attempt().await {
            Err(failure)
                if failure.reason == FailureReason::ContainerdUnavailable
                    && began.elapsed() < PATIENCE =>
            {
                progress(&format!("tried again: {}", failure.message));
                sleep(PAUSE).await;
            }
            outcome => return outcome,
        }
    }
}

/// Returns a failure of containerd or of the connection to it.
pub fn unavailable(error: &Error) -> Failure {
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error} ({source:?}); see meter.containerdSocket in the chart"),
        None => error.to_string(),
    };
    failure(FailureReason::ContainerdUnavailable, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The outcome of an action that fails `failures` times, and the number of attempts.
    async fn tried(reason: FailureReason, failures: u32) -> (Result<u32, Failure>, u32) {
        let mut attempts = 0;
        let outcome = patiently(async || {
            attempts += 1;
            if attempts > failures {
                return Ok(7);
            }
            Err(failure(reason.clone(), "busy".into()))
        });
        (outcome.await, attempts)
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_of_containerd_is_retried_for_a_while() {
        let (outcome, attempts) = tried(FailureReason::ContainerdUnavailable, 3).await;
        assert_eq!((outcome.unwrap(), attempts), (7, 4));
        let (outcome, attempts) = tried(FailureReason::ContainerdUnavailable, u32::MAX).await;
        let reason = outcome.unwrap_err().reason;
        assert_eq!(
            (reason, attempts),
            (FailureReason::ContainerdUnavailable, 41)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn any_other_failure_is_reported_at_once() {
        let (outcome, attempts) = tried(FailureReason::ImageNotRemovable, u32::MAX).await;
        assert_eq!(
            (outcome.unwrap_err().message.as_str(), attempts),
            ("busy", 1)
        );
    }
}
