//! The server and the workloads over real sockets.
//!
//! One binary for all tests: linking another takes longer than most tests do.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod children;
mod children_many;
mod common;
mod connections;
mod forwarding;
mod workloads;
