//! The gateway as a process, and its sandbox.
//!
//! One binary for all of them: linking another takes longer than most tests do.

mod process;
mod sandbox;
