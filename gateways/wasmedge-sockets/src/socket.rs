//! A non-blocking TCP socket.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::host;

const STREAM: u32 = 2;
const REUSE_ADDRESS: u32 = 0;
const ERROR: u32 = 2;
/// WASI's descriptor flag.
const NON_BLOCKING: u32 = 1 << 2;
const SENDING: u32 = 1 << 1;
/// WASI's error number for a connection attempt in progress.
const IN_PROGRESS: i32 = 26;

/// An open socket.
#[derive(Debug)]
pub struct Socket(u32);

impl Socket {
    /// Opens a socket for listening on, or connecting to, addresses of this family.
    pub fn open(address: SocketAddr) -> io::Result<Self> {
        let family = if address.is_ipv4() { 1 } else { 2 };
        let socket = Self(host::open(family, STREAM)?);
        host::set_flags(socket.0, NON_BLOCKING)?;
        Ok(socket)
    }

    /// Binds to the address, even if an earlier socket's connections are still ending there.
    pub fn bind(&self, address: SocketAddr) -> io::Result<()> {
        host::set_option(self.0, REUSE_ADDRESS, 1)?;
        with_bytes(address, |bytes| host::bind(self.0, bytes, address.port()))
    }

    /// Lets clients connect; at most `backlog` wait to be accepted.
    pub fn listen(&self, backlog: u32) -> io::Result<()> {
        host::listen(self.0, backlog)
    }

    /// Returns the next client, or [`ErrorKind::WouldBlock`].
    pub fn accept(&self) -> io::Result<Self> {
        host::accept(self.0, NON_BLOCKING).map(Self)
    }

    /// Starts to connect. The socket becomes writable when the outcome is known.
    pub fn connect(&self, address: SocketAddr) -> io::Result<()> {
        let begun = with_bytes(address, |bytes| {
            host::connect(self.0, bytes, address.port())
        });
        match begun {
            Err(error) if error.raw_os_error() == Some(IN_PROGRESS) => Ok(()),
            begun => begun,
        }
    }

    /// The outcome of connecting.
    pub fn connected(&self) -> io::Result<()> {
        match host::option(self.0, ERROR)? {
            0 => Ok(()),
            code => Err(io::Error::from_raw_os_error(code)),
        }
    }

    /// The address it listens on, or is connected from.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        let mut bytes = [0; 16];
        let (family, port) = host::local_address(self.0, &mut bytes)?;
        let [a, b, c, d, ..] = bytes;
        let ip: IpAddr = match family {
            1 | 4 => Ipv4Addr::new(a, b, c, d).into(),
            2 | 6 => Ipv6Addr::from(bytes).into(),
            _ => return Err(ErrorKind::Unsupported.into()),
        };
        let port = u16::try_from(port).map_err(io::Error::other)?;
        Ok(SocketAddr::new(ip, port))
    }

    /// Returns how many bytes were received, 0 at the end, or [`ErrorKind::WouldBlock`].
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        host::receive(self.0, buffer)
    }

    /// Returns how many bytes were taken, or [`ErrorKind::WouldBlock`].
    pub fn send(&self, bytes: &[u8]) -> io::Result<usize> {
        host::send(self.0, bytes)
    }

    /// Tells the peer that nothing more comes.
    pub fn end_sending(&self) -> io::Result<()> {
        host::shut_down(self.0, SENDING)
    }

    pub(crate) fn number(&self) -> u32 {
        self.0
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        host::close(self.0);
    }
}

fn with_bytes<T>(address: SocketAddr, call: impl FnOnce(&[u8]) -> T) -> T {
    match address.ip() {
        IpAddr::V4(ip) => call(&ip.octets()),
        IpAddr::V6(ip) => call(&ip.octets()),
    }
}
