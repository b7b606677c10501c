//! WASI 0.1 with the sockets that WasmEdge adds to it.
//!
//! WASI 0.1 has no signals (the runtime ends the guest) and no descriptor limits, and WasmEdge's
//! sockets have no way to disable Nagle's algorithm; responses are sent in one piece, so that the
//! algorithm has nothing to hold back.

use super::{Event, Interest, Until};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::rc::{Rc, Weak};
use wasmedge_sockets::{Poll, Socket};

/// WASI's numbers for EMFILE, ENFILE, ENOBUFS, ENOMEM.
const EXHAUSTED: [i32; 4] = [33, 41, 42, 48];

/// What can be waited for.
pub(crate) trait Source {
    fn socket(&self) -> &Rc<Socket>;
}

/// A listening socket.
pub(crate) struct Listener(Rc<Socket>);

impl Listener {
    pub fn bind(address: SocketAddr, backlog: i32) -> io::Result<Self> {
        let socket = Socket::open(address)?;
        socket.bind(address)?;
        socket.listen(u32::try_from(backlog).unwrap_or(1))?;
        Ok(Self(Rc::new(socket)))
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub fn accept(&self) -> io::Result<Stream> {
        self.0.accept().map(|socket| Stream(Rc::new(socket)))
    }
}

impl Source for Listener {
    fn socket(&self) -> &Rc<Socket> {
        &self.0
    }
}

/// A connected or connecting non-blocking stream.
pub(crate) struct Stream(Rc<Socket>);

impl Stream {
    /// Starts to connect. The stream becomes writable when the outcome is known.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::open(address)?;
        socket.connect(address)?;
        Ok(Self(Rc::new(socket)))
    }

    /// The outcome of connecting, once the stream is writable.
    pub fn connected(&self) -> io::Result<()> {
        self.0.connected()
    }

    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.receive(buffer)
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(bytes)
    }

    /// Tells the peer that nothing more comes; what the peer still sends can be read.
    pub fn shutdown_write(&self) {
        // Fails only if the connection is already gone, which the next read shows.
        let _ = self.0.end_sending();
    }
}

impl Source for Stream {
    fn socket(&self) -> &Rc<Socket> {
        &self.0
    }
}

struct Watched {
    socket: Weak<Socket>,
    interest: Interest,
}

/// Waits for many sockets at once. A closed socket leaves the poller by itself.
pub(crate) struct Poller {
    watched: RefCell<BTreeMap<u64, Watched>>,
    poll: Poll,
}

impl Poller {
    #[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            watched: RefCell::default(),
            poll: Poll::default(),
        })
    }

    #[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
    pub fn add(&self, source: &impl Source, token: u64, interest: Interest) -> io::Result<()> {
        let socket = Rc::downgrade(source.socket());
        let watched = Watched { socket, interest };
        self.watched.borrow_mut().insert(token, watched);
        Ok(())
    }

    pub fn change(&self, source: &impl Source, token: u64, interest: Interest) -> io::Result<()> {
        self.add(source, token, interest)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
    pub fn remove(&self, source: &impl Source) -> io::Result<()> {
        let socket = Rc::as_ptr(source.socket());
        self.watched
            .borrow_mut()
            .retain(|_, watched| watched.socket.as_ptr() != socket);
        Ok(())
    }

    /// Waits until a socket is ready or the time has come, and replaces the contents of `events`.
    pub fn wait(&mut self, events: &mut Vec<Event>, until: Until) -> io::Result<()> {
        events.clear();
        let poll = &mut self.poll;
        poll.clear();
        self.watched.get_mut().retain(|token, watched| {
            let Some(socket) = watched.socket.upgrade() else {
                return false;
            };
            if watched.interest.read {
                poll.read(&socket, *token);
            }
            if watched.interest.write {
                poll.write(&socket, *token);
            }
            true
        });
        if let Some(timeout) = until.timeout() {
            poll.timeout(timeout);
        }
        // WASI refuses to wait for nothing; a server always has its listener or a timer.
        if poll.is_empty() {
            return Ok(());
        }
        events.extend(poll.wait()?.map(|ready| Event {
            token: ready.token,
            readable: ready.readable,
            writable: ready.writable,
            failed: ready.failed,
        }));
        Ok(())
    }
}

/// True if the process or the machine has no descriptor or memory for one more socket.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    error
        .raw_os_error()
        .is_some_and(|code| EXHAUSTED.contains(&code))
}

/// The runtime ends the guest: there is nothing to do.
#[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
pub(crate) fn exit_on_signals() -> io::Result<()> {
    Ok(())
}

/// The runtime sets the limit.
pub(crate) fn raise_descriptor_limit() {}
