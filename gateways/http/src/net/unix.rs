//! Unix: std sockets, created and waited for through rustix (epoll).
//!
//! epoll rather than `poll(2)`, which walks all 1,200 descriptors on each wake-up. Level-triggered,
//! so that the logic above would be the same with `poll`.

use super::{Event, Interest, Until};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// Events taken per wake-up: enough that a burst costs few system calls, and 12 KiB of memory.
const EVENTS: usize = 1024;

/// A listening socket.
pub(crate) struct Listener(TcpListener);

impl Listener {
    pub fn bind(address: SocketAddr, backlog: i32) -> io::Result<Self> {
        let socket = tcp_socket(address)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        rustix::net::bind(&socket, &address)?;
        // std listens with a backlog of 128, which is too short for 1,200 connections at once.
        rustix::net::listen(&socket, backlog)?;
        Ok(Self(TcpListener::from(socket)))
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    pub fn accept(&self) -> io::Result<Stream> {
        let stream = TcpStream::from(rustix::net::accept_with(&self.0, FLAGS)?);
        stream.set_nodelay(true)?;
        Ok(Stream(stream))
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A connected or connecting non-blocking stream.
pub(crate) struct Stream(TcpStream);

impl Stream {
    /// Starts to connect. The stream becomes writable when the outcome is known.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = tcp_socket(address)?;
        match rustix::net::connect(&socket, &address) {
            Ok(()) | Err(Errno::INPROGRESS) => {}
            Err(error) => return Err(error.into()),
        }
        let stream = TcpStream::from(socket);
        stream.set_nodelay(true)?;
        Ok(Self(stream))
    }

    /// The outcome of connecting, once the stream is writable.
    pub fn connected(&self) -> io::Result<()> {
        self.0.take_error()?.map_or(Ok(()), Err)
    }

    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    /// Tells the peer that nothing more comes; what the peer still sends can be read.
    pub fn shutdown_write(&self) {
        // Fails only if the connection is already gone, which the next read shows.
        let _ = self.0.shutdown(Shutdown::Write);
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn tcp_socket(address: SocketAddr) -> io::Result<OwnedFd> {
    let family = if address.is_ipv4() {
        AddressFamily::INET
    } else {
        AddressFamily::INET6
    };
    Ok(rustix::net::socket_with(
        family,
        SocketType::STREAM,
        FLAGS,
        None,
    )?)
}

/// Waits for many sockets at once. A closed socket leaves the poller by itself.
pub(crate) struct Poller {
    epoll: OwnedFd,
    ready: Vec<epoll::Event>,
}

impl Poller {
    pub fn new() -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        Ok(Self {
            epoll,
            ready: Vec::with_capacity(EVENTS),
        })
    }

    pub fn add(&self, socket: &impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(
            &self.epoll,
            socket,
            EventData::new_u64(token),
            flags(interest),
        )?)
    }

    pub fn change(&self, socket: &impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(
            &self.epoll,
            socket,
            EventData::new_u64(token),
            flags(interest),
        )?)
    }

    pub fn remove(&self, socket: &impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, socket)?)
    }

    /// Waits until a socket is ready or the time has come, and replaces the contents of `events`.
    pub fn wait(&mut self, events: &mut Vec<Event>, until: Until) -> io::Result<()> {
        events.clear();
        self.ready.clear();
        let timeout = until.timeout().and_then(|timeout| timeout.try_into().ok());
        let ready = rustix::buffer::spare_capacity(&mut self.ready);
        match epoll::wait(&self.epoll, ready, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        events.extend(self.ready.iter().map(|event| {
            let flags = event.flags;
            Event {
                token: event.data.u64(),
                readable: flags.intersects(EventFlags::IN | EventFlags::HUP),
                writable: flags.contains(EventFlags::OUT),
                failed: flags.intersects(EventFlags::ERR | EventFlags::HUP),
            }
        }));
        Ok(())
    }
}

fn flags(interest: Interest) -> EventFlags {
    let mut flags = EventFlags::empty();
    flags.set(EventFlags::IN, interest.read);
    flags.set(EventFlags::OUT, interest.write);
    flags
}

/// True if the process or the machine has no descriptor or memory for one more socket.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(
        errno,
        Some(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)
    )
}

/// Makes SIGTERM and SIGINT end the process at once with exit code 0.
///
/// As process 1 of a container it would otherwise ignore both. The handler itself exits, so even a
/// long computation does not delay the exit; there is nothing to save.
pub(crate) fn exit_on_signals() -> io::Result<()> {
    let always = Arc::new(AtomicBool::new(true));
    for signal in [signal_hook::consts::SIGTERM, signal_hook::consts::SIGINT] {
        signal_hook::flag::register_conditional_shutdown(signal, 0, Arc::clone(&always))?;
    }
    Ok(())
}

/// Raises the soft limit of open descriptors to the hard limit: the usual 1,024 is below the
/// default maximum of connections.
pub(crate) fn raise_descriptor_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // On failure the old limit remains; running out of descriptors is handled anyway.
    let _ = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: limit.maximum,
            ..limit
        },
    );
}
