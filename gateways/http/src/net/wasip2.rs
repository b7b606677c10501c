//! WASI 0.2: `wasi:sockets` for the sockets, `wasi:io/poll` to wait for them.
//!
//! The std sockets of this target wait through wasi-libc, which creates a pollable for each socket
//! at each wait; here a socket keeps its own. WASI 0.2 has no signals (the runtime ends the guest),
//! no descriptor limits and no way to disable Nagle's algorithm; responses are sent in one piece,
//! so that the algorithm has nothing to hold back.

use super::{Event, Interest, Until};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};
use std::rc::{Rc, Weak};
use std::time::{Duration, Instant};
use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::io::poll::{Pollable, poll};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};
use wasip2::sockets::instance_network::instance_network;
use wasip2::sockets::network::{
    ErrorCode, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress,
};
use wasip2::sockets::tcp::{ShutdownType, TcpSocket};
use wasip2::sockets::tcp_create_socket::create_tcp_socket;

/// Longest single read: the host clears and copies as many bytes as a read may return, and most
/// HTTP requests are shorter.
const READ_BYTES: usize = 4096;

/// A resource must be dropped before the one it was created from, hence the order of the fields.
struct Socket {
    /// Nobody uses the socket any more; see [`LEAVING`].
    is_leaving: Cell<bool>,
    streams: OnceCell<Streams>,
    /// Ready when a client can be accepted, or when the outcome of connecting is known.
    decided: Pollable,
    socket: TcpSocket,
}

/// The result of a read: no bytes if none have arrived yet.
type Read = Result<Vec<u8>, StreamError>;

struct Streams {
    readable: Pollable,
    /// Created when it is first waited for: most responses are sent at once.
    writable: OnceCell<Pollable>,
    /// The last read found something.
    gave: Cell<bool>,
    /// A read made in advance.
    ahead: RefCell<Option<Read>>,
    input: InputStream,
    output: OutputStream,
}

impl Socket {
    fn new(socket: TcpSocket) -> Self {
        Self {
            is_leaving: Cell::new(false),
            streams: OnceCell::new(),
            decided: socket.subscribe(),
            socket,
        }
    }

    fn open(&self, input: InputStream, output: OutputStream) {
        let streams = Streams {
            readable: input.subscribe(),
            writable: OnceCell::new(),
            gave: Cell::new(false),
            ahead: RefCell::new(None),
            input,
            output,
        };
        // The streams are opened only once, because the runtime returns those of a socket only
        // once.
        let _ = self.streams.set(streams);
    }

    /// True if there is something to read, as far as that is known without polling for readiness.
    fn has_input(&self) -> bool {
        self.streams.get().is_some_and(Streams::has_input)
    }

    /// True if the runtime has bytes that the peer has not taken yet.
    fn is_sending(&self) -> bool {
        let streams = self.streams.get();
        streams.is_some_and(|streams| matches!(streams.output.check_write(), Ok(0)))
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

    fn read(&self, wanted: usize) -> Read {
        let ahead = self.ahead.take();
        let read = ahead.unwrap_or_else(|| self.input.read(wanted as u64));
        self.gave
            .set(read.as_ref().is_ok_and(|bytes| !bytes.is_empty()));
        read
    }

    /// See [`Socket::has_input`].
    ///
    /// wasmtime considers a socket readable from a read that found something to one that finds
    /// nothing. It would thus report the socket once in vain after each request, which costs a walk
    /// through everything that is waited for. The read that finds nothing is made here instead.
    fn has_input(&self) -> bool {
        let mut ahead = self.ahead.borrow_mut();
        if ahead.is_none() && self.gave.take() {
            let read = self.input.read(READ_BYTES as u64);
            *ahead = Some(read).filter(|read| !matches!(read, Ok(bytes) if bytes.is_empty()));
        }
        ahead.is_some()
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

thread_local! {
    /// Closed streams from which the runtime is still sending: dropping one waits until the peer
    /// has taken everything, and a peer that takes nothing would stop the whole server.
    static LEAVING: RefCell<Vec<Rc<Socket>>> = RefCell::default();
}

/// A connected or connecting non-blocking stream.
pub(crate) struct Stream(Rc<Socket>);

impl Drop for Stream {
    fn drop(&mut self) {
        if self.0.is_sending() {
            self.0.is_leaving.set(true);
            LEAVING.with_borrow_mut(|leaving| leaving.push(Rc::clone(&self.0)));
        }
    }
}

impl Stream {
    /// Starts to connect. The stream becomes writable when the outcome is known.
    pub fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = tcp_socket(address)?;
        socket
            .start_connect(&instance_network(), to_wasi(address))
            .map_err(error)?;
        Ok(Self(Rc::new(Socket::new(socket))))
    }

    /// The outcome of connecting, once the stream is writable.
    pub fn connected(&self) -> io::Result<()> {
        let (input, output) = self.0.socket.finish_connect().map_err(error)?;
        self.0.open(input, output);
        Ok(())
    }

    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let streams = self.0.streams()?;
        match streams.read(buffer.len().min(READ_BYTES)) {
            Ok(bytes) if bytes.is_empty() => Err(ErrorKind::WouldBlock.into()),
            Ok(mut bytes) => {
                let count = bytes.len().min(buffer.len());
                buffer[..count].copy_from_slice(&bytes[..count]);
                if count < bytes.len() {
                    streams.ahead.replace(Some(Ok(bytes.split_off(count))));
                }
                Ok(count)
            }
            Err(StreamError::Closed) => Ok(0),
            Err(StreamError::LastOperationFailed(_)) => Err(ErrorKind::ConnectionReset.into()),
        }
    }

    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let output = &self.0.streams()?.output;
        let broken = |_| io::Error::from(ErrorKind::BrokenPipe);
        let mut room = output.check_write().map_err(broken)?;
        if room == 0 {
            give_turn();
            room = output.check_write().map_err(broken)?;
        }
        let count = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        if count == 0 {
            return Err(ErrorKind::WouldBlock.into());
        }
        output.write(&bytes[..count]).map_err(broken)?;
        Ok(count)
    }

    /// Tells the peer that nothing more comes; what the peer still sends can be read.
    pub fn shutdown_write(&self) {
        // Fails only if the connection is already gone, which the next read shows.
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

/// Becomes ready at `time`, and is used for all waits until then: the deadlines of a busy server
/// hardly ever change from one wait to the next.
struct Timer {
    time: Instant,
    pollable: Pollable,
}

/// Waits for many sockets at once. A closed socket leaves the poller by itself.
pub(crate) struct Poller {
    watched: RefCell<BTreeMap<u64, Watched>>,
    timer: Option<Timer>,
}

impl Poller {
    #[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            watched: RefCell::default(),
            timer: None,
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
    #[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
    pub fn wait(&mut self, events: &mut Vec<Event>, until: Until) -> io::Result<()> {
        events.clear();
        LEAVING.with_borrow_mut(|leaving| leaving.retain(|socket| socket.is_sending()));
        let living = self.living();
        let mut pollables: Vec<&Pollable> = Vec::with_capacity(living.len() + 1);
        let mut meanings = Vec::with_capacity(living.len());
        for (token, interest, socket) in &living {
            if interest.read && socket.has_input() {
                events.push(event(*token, Interest::READ));
                continue;
            }
            waited_for(socket, *interest, |pollable, interest| {
                pollables.push(pollable);
                meanings.push((*token, interest));
            });
        }
        // Known input must not wait, but the other sockets are polled as well, so that they get
        // their turn.
        let until = if events.is_empty() { until } else { Until::Now };
        let at_once = (until == Until::Now).then(|| subscribe_duration(0));
        pollables.extend(&at_once);
        if let Until::Time(time) = until {
            pollables.push(self.timer_for(time));
        }
        // Polling nothing at all would trap; a server always has its listener or a timer.
        if pollables.is_empty() {
            return Ok(());
        }
        let mut is_over = false;
        for index in poll(&pollables) {
            let meaning = usize::try_from(index).ok().and_then(|i| meanings.get(i));
            match meaning {
                Some((token, interest)) => events.push(event(*token, *interest)),
                None => is_over = true,
            }
        }
        if is_over && at_once.is_none() {
            self.timer = None;
        }
        Ok(())
    }

    /// The sockets that are still open.
    fn living(&mut self) -> Vec<(u64, Interest, Rc<Socket>)> {
        let mut living = Vec::new();
        self.watched.get_mut().retain(|token, watched| {
            let socket = watched.socket.upgrade();
            let socket = socket.filter(|socket| !socket.is_leaving.get());
            let lives = socket.is_some();
            living.extend(socket.map(|socket| (*token, watched.interest, socket)));
            lives
        });
        living
    }

    /// The kept timer, or a new one if the kept one would fire too late. One that fires too early
    /// wakes the server in vain, once.
    fn timer_for(&mut self, time: Instant) -> &Pollable {
        let kept = self.timer.take().filter(|timer| timer.time <= time);
        let timer = self.timer.insert(kept.unwrap_or_else(|| Timer {
            time,
            pollable: subscribe_duration(Until::Time(time).timeout().map_or(0, nanoseconds)),
        }));
        &timer.pollable
    }
}

/// Lets the runtime check what has become ready.
///
/// wasmtime assumes that a guest that does much between two waits keeps others from their turn:
/// after about 128 readiness results it reports everything as unready until the guest has waited
/// once.
fn give_turn() {
    subscribe_duration(0).block();
}

fn event(token: u64, interest: Interest) -> Event {
    Event {
        token,
        readable: interest.read,
        writable: interest.write,
        failed: false,
    }
}

/// Calls `each` with the pollables of a socket and what their readiness makes possible.
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

/// Waits for a two-step operation to finish.
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

/// True if the process or the machine has no descriptor or memory for one more socket.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    error.kind() == ErrorKind::OutOfMemory
}

/// The runtime ends the guest: there is nothing to do.
#[expect(clippy::unnecessary_wraps, reason = "the other platforms can fail")]
pub(crate) fn exit_on_signals() -> io::Result<()> {
    Ok(())
}

/// The runtime sets the limit.
pub(crate) fn raise_descriptor_limit() {}
