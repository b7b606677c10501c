//! The whole probe as a process.
//!
//! One binary for all tests: linking another takes longer than most tests do.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test ends at the first surprise, and reports what it measured"
)]

mod failures;
mod load;
mod metering;
mod open_loop;
mod payload;
mod peak;
mod scout;
mod support;
