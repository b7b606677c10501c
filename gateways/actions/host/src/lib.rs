//! Functions of Apache OpenWhisk's action protocol over HTTP: `POST /init` with code, `POST /run` with parameters. What
//! executes them is an [`Executor`]; where functions share a process, each has a name, which stands before the path.
//!
//! Reading order: [`executor`] (what executes functions), [`functions`] (those that there are), [`server`] (requests in,
//! answers out), [`program`] (the process). For executors of Wasm modules: [`engine`] (what they have in common), [`wasi`]
//! (what a guest may call), [`compiled`] (code that is kept).

pub mod compiled;
pub mod engine;
pub mod executor;
pub mod functions;
pub mod program;
mod protocol;
mod server;
pub mod settings;
pub mod wasi;

pub use engine::Stopped;
pub use executor::{Ended, Executor, Limits};
