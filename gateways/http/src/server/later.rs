//! Responses that are sent later. Nothing waits for them: other connections are served.

use super::Server;
use crate::message::Status;
use crate::message::response::{Answer, TEXT};
use crate::service::Service;
use crate::slab::Key;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{Duration, Instant};

/// All waiting responses, the next one first.
#[derive(Default)]
pub(super) struct Sleepers {
    due: BinaryHeap<Reverse<(Instant, u64)>>,
    answers: HashMap<u64, (Key, Status, Vec<u8>)>,
    /// Counts all responses, so that two with the same time differ, and the earlier one goes first.
    count: u64,
}

impl Sleepers {
    /// When the next response is due.
    pub fn next(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse((time, _))| *time)
    }

    pub fn add(&mut self, time: Instant, answer: (Key, Status, Vec<u8>)) {
        self.count += 1;
        self.due.push(Reverse((time, self.count)));
        self.answers.insert(self.count, answer);
    }

    fn take_due(&mut self, now: Instant) -> Option<(Key, Status, Vec<u8>)> {
        self.next().filter(|time| *time <= now)?;
        let Reverse((_, id)) = self.due.pop()?;
        self.answers.remove(&id)
    }
}

impl<S: Service> Server<S> {
    /// Keeps the body that the service filled. The time counts from when the request was read.
    pub(super) fn answer_later(&mut self, key: Key, status: Status, time: Duration) {
        let body = std::mem::take(&mut self.body);
        self.sleepers.add(self.now + time, (key, status, body));
    }

    /// Sends the responses that are due. Clients that are gone by then get none.
    pub(super) fn answer_due(&mut self) {
        while let Some((key, status, body)) = self.sleepers.take_due(self.now) {
            if let Some(client) = self.clients.get_mut(key) {
                client.connection.answer(Answer {
                    status,
                    fields: TEXT,
                    body: &body,
                });
                self.drive(key);
            }
        }
    }
}
