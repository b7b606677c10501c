//! The whole probe as a process.
//!
//! One binary for all of them: linking another takes longer than most tests do.

mod duet;
mod failures;
mod load;
mod metering;
mod open_loop;
mod peak;
mod support;
