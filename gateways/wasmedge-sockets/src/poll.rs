//! Waiting for many sockets at once: `poll_oneoff`, level-triggered.

use std::io;
use std::time::Duration;

use crate::host::{self, Event, Subject, Subscription};
use crate::socket::Socket;

const CLOCK: u8 = 0;
const READ: u8 = 1;
const WRITE: u8 = 2;
const MONOTONIC: u32 = 1;
/// The peer closed both directions.
const HANGUP: u16 = 1;
/// WASI's error number for a call interrupted by a signal; WasmEdge then reports it for every
/// socket.
const INTERRUPTED: u16 = 27;

/// What became possible on the socket with this token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The token as it was given.
    pub token: u64,
    /// There is something to receive, a client to accept, or the end.
    pub readable: bool,
    /// There is room to send, or the outcome of connecting is known.
    pub writable: bool,
    /// The connection is gone in both directions.
    pub failed: bool,
}

/// A list of what to wait for, to be refilled for each wait.
#[derive(Default)]
pub struct Poll {
    subscriptions: Vec<Subscription>,
    events: Vec<Event>,
}

impl Poll {
    /// Empties the list.
    pub fn clear(&mut self) {
        self.subscriptions.clear();
    }

    /// Whether there is nothing to wait for.
    pub fn is_empty(&self) -> bool {
        self.subscriptions.is_empty()
    }

    /// Adds a wait until the socket is readable. At most once per socket.
    pub fn read(&mut self, socket: &Socket, token: u64) {
        self.socket(READ, socket, token);
    }

    /// Adds a wait until the socket is writable. At most once per socket.
    pub fn write(&mut self, socket: &Socket, token: u64) {
        self.socket(WRITE, socket, token);
    }

    fn socket(&mut self, kind: u8, socket: &Socket, token: u64) {
        let subject = Subject {
            clock_or_socket: socket.number(),
            ..Subject::default()
        };
        self.subscriptions.push(Subscription {
            token,
            kind,
            subject,
        });
    }

    /// Limits the wait to this time.
    pub fn timeout(&mut self, timeout: Duration) {
        let subject = Subject {
            clock_or_socket: MONOTONIC,
            timeout_nanoseconds: u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
            ..Subject::default()
        };
        let (token, kind) = (0, CLOCK);
        self.subscriptions.push(Subscription {
            token,
            kind,
            subject,
        });
    }

    /// Waits, and returns what is ready: nothing if the time has passed or a signal came.
    pub fn wait(&mut self) -> io::Result<impl Iterator<Item = Ready> + '_> {
        host::poll(&self.subscriptions, &mut self.events)?;
        let sockets = self.events.iter().filter(|event| event.kind != CLOCK);
        let sockets = sockets.filter(|event| event.error != INTERRUPTED);
        Ok(sockets.map(|event| Ready {
            token: event.token,
            readable: event.kind == READ,
            writable: event.kind == WRITE,
            failed: event.error != 0 || event.socket.flags & HANGUP != 0,
        }))
    }
}
