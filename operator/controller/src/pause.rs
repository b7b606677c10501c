//! The pause after a failed watch.

use std::time::Duration;

use kube::runtime::utils::Backoff;

/// A constant pause: a controller's watches share one, and a pause that grew with each failure of
/// any of them would be minutes long after a restart of the API server.
pub struct WatchPause;

impl Iterator for WatchPause {
    type Item = Duration;

    fn next(&mut self) -> Option<Duration> {
        Some(Duration::from_secs(1))
    }
}

impl Backoff for WatchPause {
    fn reset(&mut self) {}
}
