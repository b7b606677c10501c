//! The runtime's functions, each called with memory that outlives the call. Only this file is
//! unsafe.

#![allow(
    unsafe_code,
    reason = "a guest reaches its host by foreign functions only"
)]

use std::io;
use std::mem::size_of;

/// What to wait for, in WASI's layout.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Subscription {
    pub token: u64,
    pub kind: u8,
    pub subject: Subject,
}

/// A clock uses all members, a socket only the first.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Subject {
    pub clock_or_socket: u32,
    pub timeout_nanoseconds: u64,
    pub precision_nanoseconds: u64,
    pub flags: u16,
}

/// What happened, in WASI's layout.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct Event {
    pub token: u64,
    pub error: u16,
    pub kind: u8,
    pub socket: SocketEvent,
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct SocketEvent {
    pub bytes: u64,
    pub flags: u16,
}

const _: () = assert!(size_of::<Subscription>() == 48 && size_of::<Event>() == 32);

/// A slice of bytes to fill or to send, in WASI's layout.
#[repr(C)]
struct Bytes {
    start: *mut u8,
    length: u32,
}

impl Bytes {
    /// For functions that only read.
    fn from_slice(bytes: &[u8]) -> Self {
        Self {
            start: bytes.as_ptr().cast_mut(),
            length: length(bytes),
        }
    }
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    fn fd_close(socket: u32) -> u32;
    fn fd_fdstat_set_flags(socket: u32, flags: u32) -> u32;
    fn poll_oneoff(
        subscriptions: *const Subscription,
        ready: *mut Event,
        count: u32,
        found: *mut u32,
    ) -> u32;
    fn sock_accept_v2(listener: u32, flags: u32, socket: *mut u32) -> u32;
    fn sock_bind(socket: u32, address: *const Bytes, port: u32) -> u32;
    fn sock_connect(socket: u32, address: *const Bytes, port: u32) -> u32;
    fn sock_getlocaladdr(socket: u32, address: *mut Bytes, family: *mut u32, port: *mut u32)
    -> u32;
    fn sock_getsockopt(socket: u32, level: u32, name: u32, value: *mut i32, size: *mut u32) -> u32;
    fn sock_listen(socket: u32, backlog: u32) -> u32;
    fn sock_open(family: u32, kind: u32, socket: *mut u32) -> u32;
    fn sock_recv(
        socket: u32,
        into: *const Bytes,
        count: u32,
        flags: u32,
        received: *mut u32,
        flags_out: *mut u16,
    ) -> u32;
    fn sock_send(socket: u32, from: *const Bytes, count: u32, flags: u32, sent: *mut u32) -> u32;
    fn sock_setsockopt(socket: u32, level: u32, name: u32, value: *const i32, size: u32) -> u32;
    fn sock_shutdown(socket: u32, sides: u32) -> u32;
}

/// WasmEdge has its own option numbers, all of them at its only level.
const SOCKET_LEVEL: u32 = 0;

pub fn open(family: u32, kind: u32) -> io::Result<u32> {
    let mut socket = 0;
    // SAFETY: the pointer is to a local.
    checked(unsafe { sock_open(family, kind, &raw mut socket) })?;
    Ok(socket)
}

pub fn close(socket: u32) {
    // SAFETY: the argument is a number. Nothing can be done about a failure.
    let _ = unsafe { fd_close(socket) };
}

pub fn set_flags(socket: u32, flags: u32) -> io::Result<()> {
    // SAFETY: numbers.
    checked(unsafe { fd_fdstat_set_flags(socket, flags) })
}

pub fn bind(socket: u32, address: &[u8], port: u16) -> io::Result<()> {
    let address = Bytes::from_slice(address);
    // SAFETY: the host reads the address and does not write it.
    checked(unsafe { sock_bind(socket, &raw const address, port.into()) })
}

pub fn connect(socket: u32, address: &[u8], port: u16) -> io::Result<()> {
    let address = Bytes::from_slice(address);
    // SAFETY: the host reads the address and does not write it.
    checked(unsafe { sock_connect(socket, &raw const address, port.into()) })
}

pub fn listen(socket: u32, backlog: u32) -> io::Result<()> {
    // SAFETY: numbers.
    checked(unsafe { sock_listen(socket, backlog) })
}

pub fn accept(listener: u32, flags: u32) -> io::Result<u32> {
    let mut socket = 0;
    // SAFETY: the pointer is to a local.
    checked(unsafe { sock_accept_v2(listener, flags, &raw mut socket) })?;
    Ok(socket)
}

/// Fills `address`. Returns the number of the family, and the port.
pub fn local_address(socket: u32, address: &mut [u8; 16]) -> io::Result<(u32, u32)> {
    let (mut family, mut port) = (0, 0);
    let mut bytes = Bytes {
        start: address.as_mut_ptr(),
        length: 16,
    };
    // SAFETY: the host writes at most 16 bytes to the address, and to locals.
    checked(unsafe { sock_getlocaladdr(socket, &raw mut bytes, &raw mut family, &raw mut port) })?;
    Ok((family, port))
}

pub fn option(socket: u32, name: u32) -> io::Result<i32> {
    let (mut value, mut size) = (0, length_of::<i32>());
    // SAFETY: the pointers are to locals, and the size is that of the value.
    checked(unsafe { sock_getsockopt(socket, SOCKET_LEVEL, name, &raw mut value, &raw mut size) })?;
    Ok(value)
}

pub fn set_option(socket: u32, name: u32, value: i32) -> io::Result<()> {
    let size = length_of::<i32>();
    // SAFETY: the pointer is to a parameter, and the size is that of the parameter.
    checked(unsafe { sock_setsockopt(socket, SOCKET_LEVEL, name, &raw const value, size) })
}

pub fn receive(socket: u32, buffer: &mut [u8]) -> io::Result<usize> {
    let (mut received, mut flags) = (0, 0);
    let into = Bytes {
        start: buffer.as_mut_ptr(),
        length: length(buffer),
    };
    // SAFETY: the host writes to the buffer, at most to its length, and to locals.
    checked(unsafe {
        sock_recv(
            socket,
            &raw const into,
            1,
            0,
            &raw mut received,
            &raw mut flags,
        )
    })?;
    Ok(received as usize)
}

pub fn send(socket: u32, bytes: &[u8]) -> io::Result<usize> {
    let (from, mut sent) = (Bytes::from_slice(bytes), 0);
    // SAFETY: the host reads the bytes and writes to a local.
    checked(unsafe { sock_send(socket, &raw const from, 1, 0, &raw mut sent) })?;
    Ok(sent as usize)
}

pub fn shut_down(socket: u32, sides: u32) -> io::Result<()> {
    // SAFETY: numbers.
    checked(unsafe { sock_shutdown(socket, sides) })
}

/// Waits, and fills `ready` with the events that occurred.
pub fn poll(subscriptions: &[Subscription], ready: &mut Vec<Event>) -> io::Result<()> {
    let mut found = 0;
    ready.clear();
    ready.resize(subscriptions.len(), Event::default());
    let count = u32::try_from(subscriptions.len()).map_err(io::Error::other)?;
    // SAFETY: the host writes at most as many events as there are subscriptions, and `ready` has
    // room for as many.
    let code = unsafe {
        poll_oneoff(
            subscriptions.as_ptr(),
            ready.as_mut_ptr(),
            count,
            &raw mut found,
        )
    };
    ready.truncate(found as usize);
    checked(code)
}

fn checked(code: u32) -> io::Result<()> {
    match i32::try_from(code) {
        Ok(0) => Ok(()),
        Ok(code) => Err(io::Error::from_raw_os_error(code)),
        Err(error) => Err(io::Error::other(error)),
    }
}

/// Every length fits, because memory is smaller than that.
fn length(bytes: &[u8]) -> u32 {
    u32::try_from(bytes.len()).unwrap_or(u32::MAX)
}

fn length_of<T>() -> u32 {
    u32::try_from(size_of::<T>()).unwrap_or(u32::MAX)
}
