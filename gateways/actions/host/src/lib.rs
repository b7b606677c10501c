//! Functions over Apache OpenWhisk's action protocol (HTTP): `POST /init` with code, `POST /run`
//! with parameters. An [`Executor`] executes them; where functions share a process, each has a
//! name, which precedes the path.
//!
//! Reading order: [`executor`] (what executes functions), [`functions`] (the functions of a
//! process), [`server`] (requests in, responses out), [`program`] (the process). For executors of
//! Wasm modules: [`engine`] (what they have in common), [`wasi`] (what a guest may call),
//! [`compiled`] (code that is kept), [`watchdog`] (what stops calls).

pub mod compiled;
pub mod engine;
pub mod executor;
pub mod functions;
pub mod program;
mod protocol;
mod server;
pub mod settings;
pub mod watchdog;

pub use engine::Stopped;
pub use executor::{Ended, Executor, Limits};
pub use gateway_wasi::{self as wasi, add_to_linker};
