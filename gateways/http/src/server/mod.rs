//! The loop: waits for readiness, moves bytes, calls the service.
//!
//! One thread and no blocking call, so every connection makes progress while another is slow.

mod accept;
mod children;
mod clients;
mod deadlines;
mod later;

use crate::children::Children;
use crate::config::Config;
use crate::net::{Event, Interest, Listener, Poller, Until, raise_descriptor_limit};
use crate::service::Service;
use crate::slab::{Key, Slab};
use crate::upstream::{Authority, Pool};
use children::Then;
use clients::Client;
use later::Sleepers;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::time::Instant;

/// Connections that the kernel completes before they are accepted: more than the 1,200 that a load
/// generator opens at once. The kernel limits this to net.core.somaxconn (4096).
const BACKLOG: i32 = 4096;

/// The token of the listener, and the bits that mark tokens of the upstream and of children. All
/// are outside the range of a [`Key`].
const LISTENER: u64 = u64::MAX;
const UPSTREAM: u64 = 1 << 63;
const CHILD: u64 = 1 << 62;

/// A request's head and body rarely exceed this; a longer request takes several reads.
const READ_BYTES: usize = 64 * 1024;

/// A server that listens but does not serve yet.
pub struct Server<S> {
    config: Config,
    service: S,
    listener: Listener,
    poller: Poller,
    clients: Slab<Client>,
    pool: Pool,
    /// Clients with requests left over when their turn ended.
    again: VecDeque<Key>,
    children: Children<Then>,
    sleepers: Sleepers,
    /// When to resume accepting after descriptors ran out.
    accept_again: Option<Instant>,
    /// No deadline is earlier than this.
    next_check: Option<Instant>,
    now: Instant,
    bytes: Box<[u8]>,
    body: Vec<u8>,
}

impl<S: Service> Server<S> {
    /// Listens. From here on clients can connect; they are served by [`Server::run`].
    pub fn bind(config: Config, service: S) -> io::Result<Self> {
        raise_descriptor_limit();
        let listener = Listener::bind(config.listen, BACKLOG)?;
        let poller = Poller::new()?;
        poller.add(&listener, LISTENER, Interest::READ)?;
        let authority = config.upstream.as_deref().and_then(Authority::new);
        let pool = Pool::new(authority, config.upstream_timeout, UPSTREAM);
        let children = Children::new(service.child(), CHILD);
        Ok(Self {
            config,
            service,
            listener,
            poller,
            clients: Slab::new(),
            pool,
            again: VecDeque::new(),
            children,
            sleepers: Sleepers::default(),
            accept_again: None,
            next_check: None,
            now: Instant::now(),
            bytes: vec![0; READ_BYTES].into_boxed_slice(),
            body: Vec::new(),
        })
    }

    /// The address it listens on, with the port that was chosen if 0 was given.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until waiting for events itself fails.
    pub fn run(mut self) -> io::Result<Infallible> {
        let mut events = Vec::new();
        loop {
            self.poller.wait(&mut events, self.until())?;
            self.now = Instant::now();
            for event in &events {
                self.dispatch(*event);
            }
            self.answer_due();
            // Only the clients that are queued now: what they add waits for the next round, after
            // the other connections have had theirs.
            for _ in 0..self.again.len() {
                if let Some(key) = self.again.pop_front() {
                    self.drive(key);
                }
            }
            self.check_deadlines();
        }
    }

    fn dispatch(&mut self, event: Event) {
        match event.token {
            LISTENER => self.accept_all(),
            token if token & UPSTREAM != 0 => {
                let key = Key::from_bits(token & !UPSTREAM);
                let finished = self.pool.ready(key, event, self.now, &self.poller);
                self.finish_forwarded(finished);
            }
            token if token & CHILD != 0 => self.child_ready(Key::from_bits(token & !CHILD)),
            token => self.client_ready(Key::from_bits(token), event),
        }
    }

    fn until(&self) -> Until {
        if !self.again.is_empty() {
            return Until::Now;
        }
        let times = [self.next_check, self.accept_again, self.sleepers.next()];
        let next = times.into_iter().flatten().min();
        next.map_or(Until::Forever, Until::Time)
    }
}
