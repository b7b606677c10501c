//! A kernel server is a front, which listens, and an executor, which computes: a program that the
//! front starts and to which it writes calls. This crate has the protocol between the two, and what
//! executors in Rust share. It contains no engine.
//!
//! Reading order: [`protocol`] (the lines), [`options`] (the arguments of an executor), [`program`]
//! (an executor's threads and loop), [`modules`] (the kernels in a folder), [`chain`] (how fast an
//! engine computes).

pub mod chain;
pub mod modules;
pub mod options;
pub mod program;
pub mod protocol;

pub use options::{Allocator, BoundsChecks, Options};
pub use program::{Engine, Worker};
pub use protocol::{Done, Facts};

/// How this crate was compiled, and with it the executor.
pub const PROFILE: &str = if cfg!(debug_assertions) {
    "debug"
} else {
    "release"
};

/// What an executor reports about its engine: name, version, and when it compiles (`Jit`, `Aot` or
/// `Interpreter`).
pub fn engine_facts(engine: &str, version: &str, mode: &str) -> Facts {
    [
        ("engine", engine),
        ("version", version),
        ("compileMode", mode),
        ("profile", PROFILE),
    ]
    .into_iter()
    .map(|(member, value)| (member.to_owned(), value.into()))
    .collect()
}
