//! Accepting clients, and what to do when there are too many.

use super::{LISTENER, Server};
use crate::connection::Connection;
use crate::message::{Rejection, Status, response};
use crate::net::{Interest, Stream, is_exhausted};
use crate::server::clients::Client;
use crate::service::Service;
use std::io::ErrorKind;
use std::time::Duration;

/// Clients accepted per wake-up, so that a flood of them does not keep the others waiting.
const ACCEPTED_PER_WAKE: usize = 256;

/// How long accepting pauses when no descriptor is left. A level-triggered listener would otherwise
/// wake the loop endlessly.
const REST: Duration = Duration::from_millis(50);

impl<S: Service> Server<S> {
    pub(super) fn accept_all(&mut self) {
        for _ in 0..ACCEPTED_PER_WAKE {
            match self.listener.accept() {
                Ok(stream) if self.clients.len() >= self.config.max_connections => refuse(stream),
                Ok(stream) => self.admit(stream),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if is_exhausted(&error) => {
                    self.rest();
                    return;
                }
                // The client gave up between connecting and being accepted: continue with the next
                // one.
                Err(_) => {}
            }
        }
    }

    fn admit(&mut self, stream: Stream) {
        let token = self.clients.next_key().to_bits();
        if self.poller.add(&stream, token, Interest::READ).is_err() {
            refuse(stream);
            return;
        }
        let connection = Connection::new(self.config.close_connections);
        let client = Client::new(stream, connection, self.now);
        let key = self.clients.insert(client);
        self.set_deadline(key);
    }

    fn rest(&mut self) {
        if self.accept_again.is_none() && self.poller.remove(&self.listener).is_ok() {
            self.accept_again = Some(self.now + REST);
        }
    }

    /// Resumes accepting once the pause is over.
    pub(super) fn resume_accepting(&mut self) {
        if self.accept_again.is_some_and(|time| time <= self.now) {
            let added = self.poller.add(&self.listener, LISTENER, Interest::READ);
            self.accept_again = if added.is_ok() {
                None
            } else {
                Some(self.now + REST)
            };
        }
    }
}

/// Reports that there are too many clients, as far as that is possible without waiting.
fn refuse(mut stream: Stream) {
    let mut answer = Vec::new();
    let message = "there are as many connections as this server takes";
    response::write_rejection(
        Rejection::new(Status::SERVICE_UNAVAILABLE, message),
        &mut answer,
    );
    let _ = stream.write(&answer);
    stream.shutdown_write();
    // Whatever has arrived of a request is read, so that closing does not cause a reset that
    // overtakes the response.
    let _ = stream.read(&mut [0; 4096]);
}
