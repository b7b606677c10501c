//! Responses that a child process makes: from the service's body to the client's response.

use super::Server;
use crate::children::Made;
use crate::message::Status;
use crate::message::response::{Answer, JSON, TEXT};
use crate::service::{Kind, Service};
use crate::slab::Key;
use crate::upstream::Forwarded;
use std::time::{Duration, Instant};

/// What to do with a child's output.
pub(super) enum Then {
    /// It is the response, to be sent at this time at the earliest.
    Answer(Kind, Instant),
    /// It is the body of the upstream's response.
    Forward(Box<Forwarded>),
}

impl<S: Service> Server<S> {
    /// Gives the filled body to a child. True if the client has already been answered.
    pub(super) fn make(&mut self, key: Key, kind: Kind, delay: Duration) -> bool {
        let body = std::mem::take(&mut self.body);
        self.give(key, Then::Answer(kind, self.now + delay), body)
    }

    /// Gives the body of the upstream's response to a child.
    pub(super) fn make_forwarded(&mut self, key: Key, mut forwarded: Forwarded) {
        let body = std::mem::take(&mut forwarded.body);
        self.give(key, Then::Forward(Box::new(forwarded)), body);
    }

    fn give(&mut self, key: Key, then: Then, body: Vec<u8>) -> bool {
        self.children.add(key, then, body, self.now);
        self.note_deadline(self.now + self.children.timeout());
        // Other requests may be ahead in the queue, so a child that fails to start need not be this
        // one's.
        let mut answered = false;
        while let Some(made) = self.children.start(&self.poller) {
            let client = made.client;
            self.answer_made(made);
            if client == key {
                answered = true;
            } else {
                self.again.push_back(client);
            }
        }
        answered
    }

    /// Advances the child that an event belongs to, and starts those that wait for its place.
    pub(super) fn child_ready(&mut self, key: Key) {
        if let Some(made) = self.children.ready(key) {
            self.finish_made(made);
        }
        while let Some(made) = self.children.start(&self.poller) {
            self.finish_made(made);
        }
    }

    /// Ends the waits that took too long.
    pub(super) fn expire_children(&mut self) {
        while let Some(made) = self.children.expire(self.now) {
            self.finish_made(made);
        }
    }

    fn finish_made(&mut self, made: Made<Then>) {
        let key = made.client;
        self.answer_made(made);
        self.drive(key);
    }

    fn answer_made(&mut self, made: Made<Then>) {
        let Some(client) = self.clients.get_mut(made.client) else {
            return;
        };
        let connection = &mut client.connection;
        match (made.result, made.task) {
            (Err(fault), _) => connection.answer(Answer {
                status: fault.status(),
                fields: TEXT,
                body: fault.message().as_bytes(),
            }),
            (Ok(body), Then::Answer(_, time)) if time > self.now => {
                self.sleepers.add(time, (made.client, Status::OK, body));
            }
            (Ok(body), Then::Answer(kind, _)) => connection.answer(Answer {
                status: Status::OK,
                fields: match kind {
                    Kind::Text => TEXT,
                    Kind::Json => JSON,
                },
                body: &body,
            }),
            (Ok(body), Then::Forward(forwarded)) => connection.answer_forwarded(Answer {
                status: forwarded.status(),
                fields: &forwarded.fields,
                body: &body,
            }),
        }
    }
}
