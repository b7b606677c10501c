//! WASI 0.2: `wasi:sockets` for the sockets, `wasi:io/poll` to wait for them.
//!
//! The std sockets of this target wait through wasi-libc, which makes a pollable for each socket at
//! each wait; here a socket keeps its own. WASI 0.2 has no signals (the runtime ends the guest), no
//! limits of descriptors and no way to switch Nagle's algorithm off; answers go out in one piece, so
//! that it has nothing to hold back.

use super::{Event, Interest};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::rc::{Rc, Weak};
use std::time::Duration;
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::network::{
    ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress,
};
use wasip2::sockets::tcp::{ShutdownType, TcpSocket};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;

/// Longest single read: the host clears and copies as much as is asked for, and most requests are
/// shorter.
const READ_BYTES: usize = 4096;

/// A resource must be dropped before the one that it was made from, which is the order of the fields.
struct Socket {
    streams: OnceCell<Streams>,
    /// Ready when a client can be accepted, or when the connecting is decided.
    decided: Pollable,
    socket: TcpSocket,
}

struct Streams {
    readable: Pollable,
    /// Made when it is first waited for: most answers are taken at once.
    writable: OnceCell<Pollable>,
    input: InputStream,
    output: OutputStream,
}

impl Socket {
    fn new(socket: TcpSocket) -> Self {
        Self {
            streams: OnceCell::new(),
            decided: socket.subscribe(),
            socket,
        }
    }

    fn open(&self, input: InputStream, output: OutputStream) {
        let streams = Streams {
            readable: input.subscribe(),
            writable: OnceCell::new(),
            input,
            output,
        };
        // A second opening does not happen: the runtime gives the streams of a socket out once.
        let _ = self.streams.set(streams);
    }

    fn streams(&self) -> io::Result<&Streams> {
        self.streams
            .get()
            .ok_or_else(|| ErrorKind::NotConnected.into())
    }
}

impl Streams {
    fn writable(&self) -> &Pollable {
        self.writable.get_or_init(|| self.output.subscribe())
    }
}

/// What can be waited for.
pub(crate) trait Source {
    #[expect(private_interfaces, reason = "only this file implements and calls it")]
    fn socket(&self) -> &Rc<Socket>;
}

/// A listening socket.
pub(crate) struct Listener(Rc<Socket>);

impl Listener {
    pub fn bind(address: SocketAddr, backlog: i32) -> io::Result<Self> {
        let socket = tcp_socket(address)?;
        let network = instance_network();
        let backlog = u64::try_from(backlog).unwrap_or(1);
        socket.set_listen_backlog_size(backlog).map_err(error)?;
        let ready = socket.subscribe();
        socket
            .start_bind(&network, to_wasi(address))
            .map_err(error)?;
        until_done(&ready, || socket.finish_bind())?;
        socket.start_listen().map_err(error)?;
        until_done(&ready, || socket.finish_listen())?;
        drop(ready);
        Ok(Self(Rc::new(Socket::new(socket))))
    }

    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let address = self.0.socket.local_address().map_err(error)?;
        Ok(from_wasi(address))
    }

    pub fn accept(&self) -> io::Result<Stream> {
        let (socket, input, output) = self.0.socket.accept().map_err(error)?;
        let socket = Socket::new(socket);
        socket.open(input, output);
        Ok(Stream(Rc::new(socket)))
    }
}

impl Source for Listener {
    #[expect(private_interfaces, reason = "as in the trait")]
    fn socket(&self) -> &Rc<Socket> {
        &self.0
    }
}

/// A connected, or connecting, non-blocking stream.
pub(crate) struct Stream(Rc<Socket>);

impl Stream {
    /// Starts to connect. The stream becomes writable when it is decided.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = tcp_socket(address)?;
        socket
            .start_connect(&instance_network(), to_wasi(address))
            .map_err(error)?;
        Ok(Self(Rc::new(Socket::new(socket))))
    }

    /// How the connecting ended, once the stream is writable.
    pub fn connected(&self) -> io::Result<()> {
        let (input, output) = self.0.socket.finish_connect().map_err(error)?;
        self.0.open(input, output);
        Ok(())
    }

    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let wanted = buffer.len().min(READ_BYTES);
        match self.0.streams()?.input.read(wanted as u64) {
            Ok(bytes) if bytes.is_empty() => Err(ErrorKind::WouldBlock.into()),
            Ok(bytes) => {
                buffer[..bytes.len()].copy_from_slice(&bytes);
                Ok(bytes.len())
            }
            Err(StreamError::Closed) => Ok(0),
            Err(StreamError::LastOperationFailed(_)) => Err(ErrorKind::ConnectionReset.into()),
        }
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let output = &self.0.streams()?.output;
        let broken = |_| io::Error::from(ErrorKind::BrokenPipe);
        let room = output.check_write().map_err(broken)?;
        let count = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        if count == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        output.write(&bytes[..count]).map_err(broken)?;
        Ok(count)
    }

    /// Tells the peer that nothing more comes; what it still sends can be read.
    pub fn shutdown_write(&self) {
        // Fails only when the connection is gone already, which the next read shows.
        let _ = self.0.socket.shutdown(ShutdownType::Send);
    }
}

impl Source for Stream {
    #[expect(private_interfaces, reason = "as in the trait")]
    fn socket(&self) -> &Rc<Socket> {
        &self.0
    }
}

struct Watched {
    socket: Weak<Socket>,
    interest: Interest,
}

/// Waits for many sockets at once. A socket that is closed leaves it by itself.
pub(crate) struct Poller {
    watched: RefCell<BTreeMap<u64, Watched>>,
}

impl Poller {
    #[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            watched: RefCell::default(),
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

    /// Waits until a socket is ready or the timeout is over, and puts the events in place of those
    /// in `events`.
    #[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
    pub fn wait(&mut self, events: &mut Vec<Event>, timeout: Option<Duration>) -> io::Result<()> {
        events.clear();
        let mut living = Vec::new();
        self.watched.get_mut().retain(|token, watched| {
            let socket = watched.socket.upgrade();
            let lives = socket.is_some();
            living.extend(socket.map(|socket| (*token, watched.interest, socket)));
            lives
        });
        let timer = timeout.map(|timeout| subscribe_duration(nanoseconds(timeout)));
        let mut pollables: Vec<&Pollable> = Vec::with_capacity(living.len() + 1);
        let mut meanings = Vec::with_capacity(living.len());
        for (token, interest, socket) in &living {
            waited_for(socket, *interest, |pollable, interest| {
                pollables.push(pollable);
                meanings.push((*token, interest));
            });
        }
        pollables.extend(&timer);
        // Nothing at all to wait for would trap; a server always has its listener or a timer.
        if pollables.is_empty() {
            return Ok(());
        }
        for index in poll(&pollables) {
            let meaning = usize::try_from(index).ok().and_then(|i| meanings.get(i));
            events.extend(meaning.map(|(token, interest)| Event {
                token: *token,
                readable: interest.read,
                writable: interest.write,
                failed: false,
            }));
        }
        Ok(())
    }
}

/// The pollables of a socket, each with what its readiness makes possible.
fn waited_for<'a>(
    socket: &'a Socket,
    interest: Interest,
    mut each: impl FnMut(&'a Pollable, Interest),
) {
    let Some(streams) = socket.streams.get() else {
        each(&socket.decided, interest);
        return;
    };
    if interest.read {
        each(&streams.readable, Interest::READ);
    }
    if interest.write {
        let write = Interest {
            read: false,
            write: true,
        };
        each(streams.writable(), write);
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Waits for an operation of two steps to end.
fn until_done<T>(
    ready: &Pollable,
    mut finish: impl FnMut() -> Result<T, ErrorCode>,
) -> io::Result<T> {
    loop {
        match finish() {
            Err(ErrorCode::WouldBlock) => ready.block(),
            ended => return ended.map_err(error),
        }
    }
}

fn tcp_socket(address: SocketAddr) -> io::Result<TcpSocket> {
    let family = if address.is_ipv4() {
        IpAddressFamily::Ipv4
    } else {
        IpAddressFamily::Ipv6
    };
    create_tcp_socket(family).map_err(error)
}

fn to_wasi(address: SocketAddr) -> IpSocketAddress {
    match address {
        SocketAddr::V4(address) => {
            let [a, b, c, d] = address.ip().octets();
            IpSocketAddress::Ipv4(Ipv4SocketAddress {
                port: address.port(),
                address: (a, b, c, d),
            })
        }
        SocketAddr::V6(address) => {
            let [a, b, c, d, e, f, g, h] = address.ip().segments();
            IpSocketAddress::Ipv6(Ipv6SocketAddress {
                port: address.port(),
                flow_info: address.flowinfo(),
                address: (a, b, c, d, e, f, g, h),
                scope_id: address.scope_id(),
            })
        }
    }
}

fn from_wasi(address: IpSocketAddress) -> SocketAddr {
    match address {
        IpSocketAddress::Ipv4(v4) => {
            let (a, b, c, d) = v4.address;
            SocketAddr::from((Ipv4Addr::new(a, b, c, d), v4.port))
        }
        IpSocketAddress::Ipv6(v6) => {
            let (a, b, c, d, e, f, g, h) = v6.address;
            let ip = Ipv6Addr::new(a, b, c, d, e, f, g, h);
            SocketAddrV6::new(ip, v6.port, v6.flow_info, v6.scope_id).into()
        }
    }
}

fn error(code: ErrorCode) -> io::Error {
    let kind = match code {
        ErrorCode::WouldBlock | ErrorCode::NotInProgress => ErrorKind::WouldBlock,
        ErrorCode::AccessDenied => ErrorKind::PermissionDenied,
        ErrorCode::AddressInUse => ErrorKind::AddrInUse,
        ErrorCode::AddressNotBindable => ErrorKind::AddrNotAvailable,
        ErrorCode::ConnectionRefused => ErrorKind::ConnectionRefused,
        ErrorCode::ConnectionReset => ErrorKind::ConnectionReset,
        ErrorCode::ConnectionAborted => ErrorKind::ConnectionAborted,
        ErrorCode::RemoteUnreachable => ErrorKind::HostUnreachable,
        ErrorCode::Timeout => ErrorKind::TimedOut,
        ErrorCode::OutOfMemory | ErrorCode::NewSocketLimit => ErrorKind::OutOfMemory,
        _ => ErrorKind::Other,
    };
    io::Error::new(kind, code.name())
}

/// True when the process or the machine has no descriptor or memory for one more socket.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    error.kind() == ErrorKind::OutOfMemory
}

/// The runtime ends the guest: there is nothing to do.
#[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
pub(crate) fn exit_on_signals() -> io::Result<()> {
    Ok(())
}

/// The limit is the runtime's.
pub(crate) fn raise_descriptor_limit() {}
