//! The API server's clock. Deadlines are counted from stamps that it set, and the operator's own
//! clock may run minutes apart from it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::Response;
use http::header::DATE;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;

/// Clocks that agree to this many seconds count as one: an answer tells whole seconds, and takes time
/// to arrive.
const AGREE: i64 = 2;

/// What the answers of the API server tell of its clock.
#[derive(Clone, Debug, Default)]
pub struct ServerClock {
    /// Seconds that it is ahead of ours.
    ahead: Arc<AtomicI64>,
}

impl ServerClock {
    /// The time by the API server's clock; by our own before its first answer.
    pub fn now(&self) -> Timestamp {
        self.at(Timestamp::now())
    }

    fn at(&self, own: Timestamp) -> Timestamp {
        let ahead = SignedDuration::from_secs(self.ahead.load(Ordering::Relaxed));
        own.checked_add(ahead).unwrap_or(own)
    }

    /// A client that is `client` and tells this clock the date of each answer.
    pub fn follow(&self, client: Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let clock = self.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let (client, clock) = (client.clone(), clock.clone());
            async move {
                let response = client.send(request).await?;
                clock.hear(&response, Timestamp::now());
                Ok::<_, kube::Error>(response)
            }
        });
        Client::new(service, namespace)
    }

    fn hear<B>(&self, response: &Response<B>, own: Timestamp) {
        let date = response.headers().get(DATE).and_then(|date| {
            let date = jiff::fmt::rfc2822::parse(date.to_str().ok()?).ok()?;
            Some(date.timestamp())
        });
        let Some(date) = date else { return };
        let ahead = date.as_second().saturating_sub(own.as_second());
        let ahead = if ahead.abs() < AGREE { 0 } else { ahead };
        if self.ahead.swap(ahead, Ordering::Relaxed) == 0 && ahead != 0 {
            tracing::warn!(
                ahead_seconds = ahead,
                "the API server's clock differs from ours, and counts"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Timestamp {
        "2026-11-22T18:47:44.9Z".parse().unwrap()
    }

    fn after(dates: &[&str]) -> String {
        let clock = ServerClock::default();
        for date in dates {
            let response = Response::builder().header(DATE, *date).body(()).unwrap();
            clock.hear(&response, own());
        }
        clock.at(own()).to_string()
    }

    #[test]
    fn a_server_that_is_minutes_ahead_or_behind_is_believed() {
        assert_eq!(
            after(&["Sun, 22 Nov 2026 18:52:44 GMT"]),
            "2026-11-22T18:52:44.9Z"
        );
        assert_eq!(
            after(&["Sun, 22 Nov 2026 18:42:44 GMT"]),
            "2026-11-22T18:42:44.9Z"
        );
    }

    #[test]
    fn a_second_is_no_difference_and_a_clock_that_was_set_is_followed() {
        let agrees = "Sun, 22 Nov 2026 18:47:43 GMT";
        assert_eq!(after(&[agrees]), own().to_string());
        assert_eq!(
            after(&["Sun, 22 Nov 2026 18:52:44 GMT", agrees]),
            own().to_string()
        );
    }

    #[test]
    fn what_is_no_date_changes_nothing() {
        assert_eq!(after(&["yesterday", "", "0"]), own().to_string());
    }
}
