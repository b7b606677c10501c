//! Sockets and readiness: the only code here that knows the platform.
//!
//! Comes in: addresses, tokens, deadlines. Goes out: non-blocking streams and readiness events.
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

use std::time::{Duration, Instant};

/// How long to wait when no socket becomes ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// Not at all: what is ready already is reported.
    Now,
    Time(Instant),
    Forever,
}

impl Until {
    /// From now on; none for ever.
    pub fn timeout(self) -> Option<Duration> {
        match self {
            Self::Now => Some(Duration::ZERO),
            // Rounded up by a millisecond, because a wait that ends a little early would be repeated
            // without a pause until the time has come.
            Self::Time(time) => {
                let rest = time.saturating_duration_since(Instant::now());
                Some(rest + Duration::from_millis(1))
            }
            Self::Forever => None,
        }
    }
}

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
