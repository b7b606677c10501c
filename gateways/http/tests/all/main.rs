//! The server and the workloads over real sockets.
//!
//! One binary for all of them: linking another takes longer than most tests do.

mod children;
mod children_many;
mod common;
mod connections;
mod forwarding;
mod workloads;
