//! The part of WASI preview 1 that measured guests import, for any engine. There are no files, and
//! arguments and environment are empty.
//!
//! [`Streams`] is all that a filter from standard input to standard output needs, and [`transfer`]
//! and [`no_strings`] all that one needs whose streams are those of the process. [`Guest`] adds what
//! functions import as well: a clock, a timer and randomness.

mod guest;
mod memory;
mod streams;

pub use guest::{Guest, PROVIDED, random_get};
pub use memory::{errno, transfer};
pub use streams::{Streams, no_strings};

/// The module name of all these functions.
pub const MODULE: &str = "wasi_snapshot_preview1";
