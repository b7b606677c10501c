//! The connection to the container runtime of the node, where the administrator allows it.

use std::path::Path;

use futures::channel::mpsc::UnboundedReceiver;
use wasmbench_core::wire::document::{ProbeFailure, ProbeFailureReason};

use super::failure;
use crate::containerd::events::RuntimeEvent;
use crate::containerd::{Containerd, Error};

/// containerd, and what it tells meanwhile.
pub struct Runtime {
    pub(super) containerd: Containerd,
    pub(super) events: UnboundedReceiver<RuntimeEvent>,
}

impl Runtime {
    /// Connects to containerd's socket and follows its events.
    pub async fn connect(socket: &Path) -> Result<Self, ProbeFailure> {
        let connected = Containerd::connect(socket).await;
        let containerd = connected.map_err(|error| unavailable(&error))?;
        let events = containerd.events();
        Ok(Self { containerd, events })
    }
}

/// A failure of containerd, or of the way to it.
pub fn unavailable(error: &Error) -> ProbeFailure {
    let message = match std::error::Error::source(error) {
        Some(source) => format!("{error} ({source:?}); see meter.containerdSocket in the chart"),
        None => error.to_string(),
    };
    failure(ProbeFailureReason::ContainerdUnavailable, message)
}
