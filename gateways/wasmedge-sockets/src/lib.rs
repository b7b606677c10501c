//! The sockets that WasmEdge adds to WASI 0.1, and waiting for many of them.
//!
//! Input: addresses, bytes, tokens, timeouts. Output: non-blocking TCP sockets that are closed when
//! they are dropped, and what is ready. Empty for every other target. All unsafe code is in `host`:
//! calls to functions that the runtime provides.
#![cfg(all(target_os = "wasi", target_env = "p1"))]

mod host;
mod poll;
mod socket;

pub use poll::{Poll, Ready};
pub use socket::Socket;
