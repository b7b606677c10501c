//! Serving clients: from readiness to requests, from responses to bytes sent.

use super::Server;
use crate::connection::{Connection, Wait};
use crate::message::response::{Answer, JSON, TEXT};
use crate::message::{Method, Status};
use crate::net::{Event, Interest, Stream};
use crate::service::{Outcome, Service};
use crate::slab::Key;
use crate::upstream::Finished;
use std::io::ErrorKind;
use std::time::Instant;

/// Pipelined requests handled in one turn of a client.
const REQUESTS_PER_TURN: usize = 16;

/// A client's socket, its protocol, what it waits for, and since when.
pub(super) struct Client {
    pub stream: Stream,
    pub connection: Connection,
    pub interest: Interest,
    pub waiting: (Wait, u64),
    pub since: Instant,
    /// The end of sending has been announced.
    shut: bool,
}

impl Client {
    pub fn new(stream: Stream, connection: Connection, now: Instant) -> Self {
        let waiting = (connection.wait(), connection.progress());
        Self {
            stream,
            connection,
            interest: Interest::READ,
            waiting,
            since: now,
            shut: false,
        }
    }

    /// Sends what the socket takes. False if the connection is broken.
    fn flush(&mut self) -> bool {
        while !self.connection.unsent().is_empty() {
            match self.stream.write(self.connection.unsent()) {
                Ok(count) => self.connection.sent(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return true,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        if self.connection.wait() == Wait::Goodbye && !self.shut {
            self.stream.shutdown_write();
            self.shut = true;
        }
        true
    }
}

impl<S: Service> Server<S> {
    pub(super) fn client_ready(&mut self, key: Key, event: Event) {
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        if event.failed {
            self.close(key);
            return;
        }
        // One read per wake-up: a socket with more to read is reported again.
        if event.readable && client.connection.wants_read() {
            match client.stream.read(&mut self.bytes) {
                Ok(0) => client.connection.end_of_input(),
                Ok(count) => client.connection.receive(&self.bytes[..count]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
                Err(_) => {
                    self.close(key);
                    return;
                }
            }
        }
        self.drive(key);
    }

    /// Answers pending requests, sends, and determines what the client waits for next.
    pub(super) fn drive(&mut self, key: Key) {
        let mut left_over = true;
        for _ in 0..REQUESTS_PER_TURN {
            if !self.answer_next(key) {
                left_over = false;
                break;
            }
        }
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        let was_full = !client.connection.wants_answers();
        if !client.flush() {
            self.close(key);
            return;
        }
        if (left_over || was_full) && client.connection.unsent().is_empty() {
            self.again.push_back(key);
        }
        self.settle(key);
    }

    /// True if there was a request and it has been answered.
    fn answer_next(&mut self, key: Key) -> bool {
        let Some(client) = self.clients.get_mut(key) else {
            return false;
        };
        if !client.connection.advance() {
            return false;
        }
        self.body.clear();
        let (status, fields) = match self
            .service
            .handle(client.connection.request(), &mut self.body)
        {
            Outcome::Text(status) => (status, TEXT),
            Outcome::Json(status) => (status, JSON),
            Outcome::Later(status, time) => {
                self.answer_later(key, status, time);
                return false;
            }
            Outcome::Child(kind, delay) => return self.make(key, kind, delay),
            Outcome::Forward => {
                let request = client.connection.request();
                let finished = self.pool.forward(key, request, self.now, &self.poller);
                let at_once = finished.is_some();
                self.note_deadline(self.now + self.config.upstream_timeout);
                self.answer_forwarded(finished);
                return at_once;
            }
        };
        client.connection.answer(Answer {
            status,
            fields,
            body: &self.body,
        });
        true
    }

    /// Gives a client the upstream's response and continues with the client.
    pub(super) fn finish_forwarded(&mut self, finished: Option<Finished>) {
        let Some(key) = finished.as_ref().map(|finished| finished.client) else {
            return;
        };
        self.answer_forwarded(finished);
        self.drive(key);
    }

    fn answer_forwarded(&mut self, finished: Option<Finished>) {
        let Some(Finished {
            client: key,
            result,
        }) = finished
        else {
            return;
        };
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        let failed = |status, body| Answer {
            status,
            fields: TEXT,
            body,
        };
        match result {
            Err(fault) => {
                client
                    .connection
                    .answer(failed(fault.status(), fault.message().as_bytes()));
            }
            Ok(mut forwarded) => {
                let status = forwarded.status();
                let has_body =
                    client.connection.request().method() != Method::Head && !status.forbids_body();
                let is_changed = status.is_success() && has_body;
                if is_changed && self.children.are_wanted() {
                    self.make_forwarded(key, forwarded);
                    return;
                }
                if is_changed
                    && let Err(reason) = self.service.change_forwarded(&mut forwarded.body)
                {
                    let status = Status::INTERNAL_SERVER_ERROR;
                    client
                        .connection
                        .answer(failed(status, reason.0.as_bytes()));
                    return;
                }
                let fields = &forwarded.fields;
                let body = &forwarded.body;
                client.connection.answer_forwarded(Answer {
                    status,
                    fields,
                    body,
                });
            }
        }
    }

    /// Registers what to wait for on the client's socket, or closes the client.
    pub(super) fn settle(&mut self, key: Key) {
        let Some(client) = self.clients.get_mut(key) else {
            return;
        };
        let wait = client.connection.wait();
        if wait == Wait::Over {
            self.close(key);
            return;
        }
        let interest = Interest {
            read: client.connection.wants_read(),
            write: wait == Wait::Write,
        };
        if client.interest != interest {
            client.interest = interest;
            if self
                .poller
                .change(&client.stream, key.to_bits(), interest)
                .is_err()
            {
                self.close(key);
                return;
            }
        }
        let waiting = (wait, client.connection.progress());
        if client.waiting != waiting {
            client.waiting = waiting;
            client.since = self.now;
            self.set_deadline(key);
        }
    }

    pub(super) fn close(&mut self, key: Key) {
        if let Some(client) = self.clients.remove(key)
            && client.connection.awaits_answer()
        {
            self.pool.cancel(key);
            self.children.cancel(key);
        }
    }
}
