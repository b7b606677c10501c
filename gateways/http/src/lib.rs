//! A single-threaded HTTP/1.1 server over a readiness loop, and the workloads of the benchmark.
//!
//! Input: a [`Config`] and a [`Service`]. Output: responses to HTTP/1.1 requests, and one line on
//! standard output when it listens. It has no thread, no async runtime and no unsafe code, and
//! everything that depends on the platform is behind one small private module.
//!
//! Reading order: [`Workloads`] (what the responses are), `connection` (a client as a pure state
//! machine), `server` (the loop), `upstream` (forwarding), `children` (responses that a process
//! makes), `net` (sockets and readiness), [`run()`] (what a gateway's `main` calls).
//!
//! It accepts GET, HEAD and POST in HTTP/1.0 and 1.1, keep-alive (HTTP/1.1), pipelining, bodies
//! with a length or in the chunked coding, and `Expect: 100-continue`. It refuses anything else
//! with a status and a message, and then closes the connection: heads over 16 KiB (431), bodies
//! over 1 MiB (413), late requests (408), ambiguous lengths (400), and so on.

mod buffer;
mod children;
mod config;
mod connection;
mod guest;
mod message;
mod net;
mod run;
mod server;
mod service;
mod settings;
mod slab;
mod upstream;
mod workloads;

pub use children::ChildCommand;
pub use config::Config;
pub use guest::guest_facts;
pub use message::{Method, Request, Status};
pub use run::{Program, run};
pub use server::Server;
pub use service::{Failed, Kind, Outcome, Service};
pub use settings::{Invalid, Settings};
pub use workloads::{PROFILE, Transform, Unchanged, Workloads, sha256_chain};
