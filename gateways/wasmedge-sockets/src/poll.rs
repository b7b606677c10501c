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
/// WASI's number of a call that a signal interrupted; WasmEdge then tells it of every socket.
const INTERRUPTED: u16 = 27;

/// What became possible on the socket of this token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// As it was given.
    pub token: u64,
    /// There is something to receive, a client to accept, or the end.
    pub readable: bool,
    /// There is room to send, or the connecting is decided.
    pub writable: bool,
    /// The connection is gone in both directions.
    pub failed: bool,
}

/// A list of what to wait for, to be filled anew for each wait.
#[derive(Default)]
pub struct Poll {
    asked: Vec<Subscription>,
    events: Vec<Event>,
}

impl Poll {
    /// Forgets what was waited for.
    pub fn clear(&mut self) {
        self.asked.clear();
    }

    /// Whether there is nothing to wait for.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Waits until the socket is readable. At most once for a socket.
    pub fn read(&mut self, socket: &Socket, token: u64) {
        self.socket(READ, socket, token);
    }

    /// Waits until the socket is writable. At most once for a socket.
    pub fn write(&mut self, socket: &Socket, token: u64) {
        self.socket(WRITE, socket, token);
    }

    fn socket(&mut self, kind: u8, socket: &Socket, token: u64) {
        let of = Subject {
            clock_or_socket: socket.number(),
            ..Subject::default()
        };
        self.asked.push(Subscription { token, kind, of });
    }

    /// Waits no longer than this.
    pub fn timeout(&mut self, timeout: Duration) {
        let of = Subject {
            clock_or_socket: MONOTONIC,
            timeout_nanoseconds: u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX),
            ..Subject::default()
        };
        let (token, kind) = (0, CLOCK);
        self.asked.push(Subscription { token, kind, of });
    }

    /// Waits, and gives what is ready: nothing when the time is over or a signal came.
    pub fn wait(&mut self) -> io::Result<impl Iterator<Item = Ready> + '_> {
        host::poll(&self.asked, &mut self.events)?;
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
