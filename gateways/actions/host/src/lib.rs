//! Functions of Apache OpenWhisk's action protocol over HTTP: `POST /init` with code, `POST /run` with parameters. What
//! executes them is an [`Executor`]; where functions share a process, each has a name, which stands before the path.
//!
//! Reading order: [`executor`] (what an engine does), [`functions`] (those that there are), [`server`] (requests in,
//! answers out), [`program`] (settings and the process), [`wasi`] (what a guest may call).

pub mod executor;
pub mod functions;
pub mod program;
mod protocol;
mod server;
pub mod wasi;

pub use executor::{Ended, Executor, Limits};
