//! The gateway as a process, and its sandbox.
//!
//! One binary for all of them: linking another takes longer than most tests do.

#![allow(clippy::unwrap_used, reason = "a test ends at the first surprise")]

mod process;
mod sandbox;
