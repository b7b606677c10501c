//! A gateway's transform that runs in Wasm: one module, compiled once or when the image was built, a fresh instance for each
//! answer.
//!
//! Comes in: a WASI command that copies standard input to standard output. Goes out: a
//! [`gateway_http::Transform`]. Reading order: [`Sandbox`] (one answer from beginning to end),
//! [`Mode`] (how the engine is set), `wasi` (what the module may call). Where the time of an
//! answer goes is in `docs/embedded.md`.

mod ahead;
mod compute;
mod engine;
mod sandbox;
mod wasi;

pub use engine::{Allocator, Compile, Memory, Mode};
pub use sandbox::{Sandbox, SandboxError};
