//! The API server's clock. Deadlines are counted from timestamps that the API server set, and the
//! operator's own clock may differ from it by minutes.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use http::Response;
use http::header::DATE;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use kube::client::Body;

/// The API server's clock, according to its responses.
#[derive(Clone, Debug, Default)]
pub struct ServerClock {
    /// Seconds by which the API server's clock is ahead of ours.
    ahead: Arc<AtomicI64>,
}

impl ServerClock {
    /// The time by the API server's clock, or by our own until it first responds.
    pub fn now(&self) -> Timestamp {
        self.at(Timestamp::now())
    }

    fn at(&self, own: Timestamp) -> Timestamp {
        let ahead = SignedDuration::from_secs(self.ahead.load(Ordering::Relaxed));
        own.checked_add(ahead).unwrap_or(own)
    }

    /// Wraps `client` so that this clock learns the date of each response.
    pub fn follow(&self, client: Client) -> Client {
        let namespace = client.default_namespace().to_owned();
        let clock = self.clone();
        let service = tower::service_fn(move |request: http::Request<Body>| {
            let (client, clock) = (client.clone(), clock.clone());
            async move {
                let sent = Timestamp::now();
                let response = client.send(request).await?;
                clock.hear(&response, sent, Timestamp::now());
                Ok::<_, kube::Error>(response)
            }
        });
        Client::new(service, namespace)
    }

    /// Compares the date of a response with our clock. Unless the clocks differ, the date is a
    /// whole second between the moments at which the request was `sent` and the response
    /// `received`.
    fn hear<B>(&self, response: &Response<B>, sent: Timestamp, received: Timestamp) {
        let date = response.headers().get(DATE).and_then(|date| {
            let date = jiff::fmt::rfc2822::parse(date.to_str().ok()?).ok()?;
            Some(date.timestamp())
        });
        let Some(date) = date else { return };
        let since = |own: Timestamp| date.as_second().saturating_sub(own.as_second());
        let (least, most) = (since(received), since(sent).saturating_add(1));
        let ahead = 0.clamp(least.min(most), most);
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

    /// The server's time after responses with these dates, each of which took `seconds`.
    fn after(dates: &[&str], seconds: i64) -> String {
        let clock = ServerClock::default();
        for date in dates {
            let response = Response::builder().header(DATE, *date).body(()).unwrap();
            let sent = own() - SignedDuration::from_secs(seconds);
            clock.hear(&response, sent, own());
        }
        clock.at(own()).to_string()
    }

    #[test]
    fn a_server_that_is_minutes_ahead_or_behind_is_believed() {
        assert_eq!(
            after(&["Sun, 22 Nov 2026 18:52:44 GMT"], 0),
            "2026-11-22T18:52:44.9Z"
        );
        assert_eq!(
            after(&["Sun, 22 Nov 2026 18:42:44 GMT"], 0),
            "2026-11-22T18:42:45.9Z"
        );
    }

    #[test]
    fn a_slow_response_does_not_adjust_the_clock() {
        for date in ["18:47:44", "18:47:35", "18:47:34"] {
            let date = format!("Sun, 22 Nov 2026 {date} GMT");
            assert_eq!(after(&[&date], 10), own().to_string(), "{date}");
        }
    }

    #[test]
    fn a_second_is_ignored_and_a_clock_that_was_set_is_followed() {
        let agrees = "Sun, 22 Nov 2026 18:47:43 GMT";
        assert_eq!(after(&[agrees], 0), own().to_string());
        assert_eq!(
            after(&["Sun, 22 Nov 2026 18:52:44 GMT", agrees], 0),
            own().to_string()
        );
    }

    #[test]
    fn an_invalid_date_changes_nothing() {
        assert_eq!(after(&["yesterday", "", "0"], 0), own().to_string());
    }
}
