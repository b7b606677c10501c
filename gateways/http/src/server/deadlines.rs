//! Time limits. Nothing is timed exactly: the loop keeps a lower bound of all deadlines and checks
//! every connection when it is reached, so that a request costs no timer.

use super::Server;
use crate::connection::Wait;
use crate::service::Service;
use crate::slab::Key;
use std::time::{Duration, Instant};

/// Minimum time between two checks of all connections.
const PAUSE: Duration = Duration::from_millis(20);

/// How long a refused client may continue to send before the connection is cut.
const GOODBYE: Duration = Duration::from_secs(1);

impl<S: Service> Server<S> {
    fn limit(&self, wait: Wait) -> Option<Duration> {
        match wait {
            Wait::Request => Some(self.config.idle_timeout),
            Wait::RestOfRequest => Some(self.config.read_timeout),
            Wait::Write => Some(self.config.write_timeout),
            Wait::Goodbye => Some(GOODBYE),
            // The upstream's exchange and a child have their own deadlines.
            Wait::Answer | Wait::Over => None,
        }
    }

    /// Makes sure that this deadline is not missed.
    pub(super) fn note_deadline(&mut self, deadline: Instant) {
        self.next_check = Some(self.next_check.map_or(deadline, |next| next.min(deadline)));
    }

    pub(super) fn set_deadline(&mut self, key: Key) {
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        let (wait, since) = (client.waiting.0, client.since);
        if let Some(limit) = self.limit(wait) {
            self.note_deadline(since + limit);
        }
    }

    pub(super) fn check_deadlines(&mut self) {
        self.resume_accepting();
        if self.next_check.is_none_or(|time| time > self.now) {
            return;
        }
        while let Some(finished) = self.pool.expire(self.now) {
            self.finish_forwarded(Some(finished));
        }
        self.expire_children();
        let waits = [self.pool.next_deadline(), self.children.next_deadline()];
        let mut next = waits.into_iter().flatten().min();
        let mut late = Vec::new();
        for (key, client) in self.clients.iter() {
            let Some(limit) = self.limit(client.waiting.0) else {
                continue;
            };
            let deadline = client.since + limit;
            if deadline <= self.now {
                late.push(key);
            } else {
                next = Some(next.map_or(deadline, |next| next.min(deadline)));
            }
        }
        self.next_check = next.map(|next| next.max(self.now + PAUSE));
        for key in late {
            if let Some(client) = self.clients.get_mut(key) {
                client.connection.timed_out();
            }
            self.drive(key);
        }
    }
}
