//! Connections to the upstream: at most one exchange on each, kept open between exchanges, all of
//! them in the same readiness loop as the clients.

use super::{Authority, Fault, Forwarded, exchange::Exchange};
use crate::message::Request;
use crate::net::{Event, Interest, Poller, Stream};
use crate::slab::{Key, Slab};
use std::io::ErrorKind;
use std::time::{Duration, Instant};

/// A finished exchange, for the client that waits for it.
pub(crate) struct Finished {
    pub client: Key,
    pub result: Result<Forwarded, Fault>,
}

/// A connection to the upstream.
struct Link {
    stream: Stream,
    connecting: bool,
    interest: Interest,
    /// Which of the upstream's addresses this is.
    address: usize,
    /// It has carried an exchange before, so the upstream may be closing it right now.
    used: bool,
    task: Option<Task>,
}

struct Task {
    client: Key,
    exchange: Exchange,
    deadline: Instant,
}

/// The result of a link moving bytes.
enum Moved {
    Waiting,
    Done(Result<Forwarded, Fault>),
}

/// All connections to the upstream.
pub(crate) struct Pool {
    authority: Option<Authority>,
    timeout: Duration,
    /// Marks a token of the poller as one of ours.
    token_bit: u64,
    links: Slab<Link>,
    idle: Vec<Key>,
}

impl Pool {
    pub fn new(authority: Option<Authority>, timeout: Duration, token_bit: u64) -> Self {
        Self {
            authority,
            timeout,
            token_bit,
            links: Slab::new(),
            idle: Vec::new(),
        }
    }

    /// Forwards a request. `Some`: the exchange is already over.
    pub fn forward(
        &mut self,
        client: Key,
        request: &Request,
        now: Instant,
        poller: &Poller,
    ) -> Option<Finished> {
        let Some(authority) = &self.authority else {
            return Some(Finished {
                client,
                result: Err(Fault::NotConfigured),
            });
        };
        let exchange = Exchange::new(request, authority.text());
        let task = Task {
            client,
            exchange,
            deadline: now + self.timeout,
        };
        // The upstream may close a kept connection during the request, after which a POST could not
        // safely be sent again: it gets a new connection.
        if task.exchange.is_idempotent() {
            while let Some(key) = self.idle.pop() {
                if let Some(link) = self.links.get_mut(key) {
                    link.task = Some(task);
                    return self.pump(key, now, poller);
                }
            }
        }
        self.connect(task, 0, now, poller)
    }

    /// Opens a connection, starting with the address at `first`.
    fn connect(
        &mut self,
        task: Task,
        first: usize,
        now: Instant,
        poller: &Poller,
    ) -> Option<Finished> {
        let client = task.client;
        let addresses = self
            .authority
            .as_mut()
            .map_or(&[][..], |known| known.addresses(now));
        let mut fault = if addresses.is_empty() {
            Fault::NoAddress
        } else {
            Fault::NoConnection
        };
        for (address, to) in addresses.iter().enumerate().skip(first) {
            let Ok(stream) = Stream::connect(*to) else {
                continue;
            };
            let key = self.links.next_key();
            let token = self.token_bit | key.to_bits();
            if poller.add(&stream, token, Interest::BOTH).is_err() {
                fault = Fault::NoConnection;
                break;
            }
            let interest = Interest::BOTH;
            let task = Some(task);
            let connecting = true;
            self.links.insert(Link {
                stream,
                connecting,
                interest,
                address,
                used: false,
                task,
            });
            return None;
        }
        Some(Finished {
            client,
            result: Err(fault),
        })
    }

    /// Continues with a link after an event.
    pub fn ready(
        &mut self,
        key: Key,
        event: Event,
        now: Instant,
        poller: &Poller,
    ) -> Option<Finished> {
        let link = self.links.get_mut(key)?;
        if link.connecting {
            if !event.writable && !event.failed {
                return None;
            }
            if link.stream.connected().is_err() {
                let link = self.links.remove(key)?;
                return self.connect(link.task?, link.address + 1, now, poller);
            }
            link.connecting = false;
            let address = link.address;
            if let Some(authority) = &mut self.authority {
                authority.prefer(address);
            }
        }
        if self.links.get_mut(key)?.task.is_none() {
            // Nothing was requested, so this is the upstream closing a kept connection.
            self.drop_link(key);
            return None;
        }
        self.pump(key, now, poller)
    }

    /// Moves what can be moved.
    fn pump(&mut self, key: Key, now: Instant, poller: &Poller) -> Option<Finished> {
        let link = self.links.get_mut(key)?;
        let moved = link.pump();
        match moved {
            Moved::Waiting => {
                let unsent = link
                    .task
                    .as_ref()
                    .is_some_and(|task| !task.exchange.unsent().is_empty());
                let interest = Interest {
                    read: true,
                    write: unsent,
                };
                if link.interest != interest {
                    link.interest = interest;
                    let token = self.token_bit | key.to_bits();
                    if poller.change(&link.stream, token, interest).is_err() {
                        return self.finish(key, Err(Fault::Lost));
                    }
                }
                None
            }
            Moved::Done(Err(Fault::Lost)) if link.may_retry() => {
                let mut task = self.links.remove(key)?.task?;
                task.exchange.rewind();
                self.connect(task, 0, now, poller)
            }
            Moved::Done(result) => self.finish(key, result),
        }
    }

    fn finish(&mut self, key: Key, result: Result<Forwarded, Fault>) -> Option<Finished> {
        let link = self.links.get_mut(key)?;
        let client = link.task.take()?.client;
        if result.as_ref().is_ok_and(|answer| answer.reusable) {
            link.used = true;
            self.idle.push(key);
        } else {
            self.drop_link(key);
        }
        Some(Finished { client, result })
    }

    /// Closes a connection; the poller forgets it by itself.
    fn drop_link(&mut self, key: Key) {
        self.links.remove(key);
        self.idle.retain(|idle| *idle != key);
    }

    /// Abandons the exchange of a client that is gone.
    pub fn cancel(&mut self, client: Key) {
        let found = self
            .tasks()
            .find(|(_, task)| task.client == client)
            .map(|(key, _)| key);
        if let Some(key) = found {
            self.drop_link(key);
        }
    }

    /// Ends one exchange whose deadline has passed. To be called until it returns `None`.
    pub fn expire(&mut self, now: Instant) -> Option<Finished> {
        let late = self
            .tasks()
            .find(|(_, task)| task.deadline <= now)
            .map(|(key, _)| key)?;
        self.finish(late, Err(Fault::TimedOut))
    }

    /// The earliest deadline of an exchange.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.tasks().map(|(_, task)| task.deadline).min()
    }

    fn tasks(&self) -> impl Iterator<Item = (Key, &Task)> {
        self.links
            .iter()
            .filter_map(|(key, link)| link.task.as_ref().map(|task| (key, task)))
    }
}

impl Link {
    fn may_retry(&self) -> bool {
        self.used
            && self
                .task
                .as_ref()
                .is_some_and(|task| task.exchange.is_idempotent() && task.exchange.is_unanswered())
    }

    fn pump(&mut self) -> Moved {
        let Some(task) = &mut self.task else {
            return Moved::Waiting;
        };
        while !task.exchange.unsent().is_empty() {
            match self.stream.write(task.exchange.unsent()) {
                Ok(count) => task.exchange.sent(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A response may have arrived before the connection broke: read it.
                Err(_) => break,
            }
        }
        let mut bytes = [0; 16 * 1024];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Moved::Done(task.exchange.end_of_input()),
                Ok(count) => match task.exchange.receive(&bytes[..count]) {
                    Ok(None) if count == bytes.len() => {}
                    Ok(None) => return Moved::Waiting,
                    Ok(Some(answer)) => return Moved::Done(Ok(answer)),
                    Err(fault) => return Moved::Done(Err(fault)),
                },
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Moved::Waiting,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return Moved::Done(Err(Fault::Lost)),
            }
        }
    }
}
