//! The gateway as a process, and its sandbox.
//!
//! One binary for all tests: linking another takes longer than most tests do.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod process;
mod sandbox;
