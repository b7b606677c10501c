//! Sockets and readiness: the only platform-specific code here.
//!
//! Input: addresses, tokens, deadlines. Output: non-blocking streams and readiness events. The
//! interface is as narrow as `poll(2)`: level-triggered, one token per socket, no thread and no
//! callback. A port to another platform is one more file with the same items.

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
    /// Not at all: only what is already ready is reported.
    Now,
    Time(Instant),
    Forever,
}

impl Until {
    /// The time from now on; `None` means forever.
    pub fn timeout(self) -> Option<Duration> {
        match self {
            Self::Now => Some(Duration::ZERO),
            // One millisecond is added, because a wait that ends a little early would be repeated
            // without a pause until the time has come.
            Self::Time(time) => {
                let rest = time.saturating_duration_since(Instant::now());
                Some(rest + Duration::from_millis(1))
            }
            Self::Forever => None,
        }
    }
}

/// What to wait for on a socket.
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
