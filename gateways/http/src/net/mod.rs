//! Sockets and readiness: the only code here that knows the platform.
//!
//! Comes in: addresses, tokens, timeouts. Goes out: non-blocking streams and readiness events.
//! The interface is as narrow as `poll(2)`: level-triggered, one token per socket, no thread and
//! no call-back. A port to another platform is one more file with the same items.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub(crate) use unix::{
    Listener, Poller, Stream, exit_on_signals, is_exhausted, raise_descriptor_limit,
};
#[cfg(all(target_os = "wasi", target_env = "p2"))]
mod wasip2;
#[cfg(all(target_os = "wasi", target_env = "p2"))]
pub(crate) use wasip2::{
    Listener, Poller, Stream, exit_on_signals, is_exhausted, raise_descriptor_limit,
};
#[cfg(all(target_os = "wasi", target_env = "p1"))]
mod wasmedge;
#[cfg(all(target_os = "wasi", target_env = "p1"))]
pub(crate) use wasmedge::{
    Listener, Poller, Stream, exit_on_signals, is_exhausted, raise_descriptor_limit,
};

/// What a socket is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Interest {
    pub read: bool,
    pub write: bool,
}

impl Interest {
    pub const READ: Self = Self {
        read: true,
        write: false,
    };
    pub const BOTH: Self = Self {
        read: true,
        write: true,
    };
}

/// What became possible on the socket that was registered under `token`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub token: u64,
    pub readable: bool,
    pub writable: bool,
    /// The connection is gone in both directions; nothing can be sent any more.
    pub failed: bool,
}
