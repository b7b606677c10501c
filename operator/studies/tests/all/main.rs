//! The figures that are in the repository, and those of a summary.
//!
//! One binary for all of them: linking another takes longer than most tests do.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

mod collect;
mod in_sync;
