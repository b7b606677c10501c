//! A gateway's transform that runs in Wasm: one module, compiled at startup or when the image was
//! built, and a fresh instance for each response.
//!
//! Input: a WASI command that copies standard input to standard output. Output: a
//! [`gateway_http::Transform`]. Reading order: [`Sandbox`] (one response from beginning to end),
//! [`Mode`] (how the engine is configured), `wasi` (what the module may call). `docs/embedded.md`
//! shows where the time of a response goes.

mod ahead;
mod compute;
mod engine;
mod sandbox;
mod wasi;

pub use engine::{Allocator, Compile, Memory, Mode};
pub use sandbox::{Sandbox, SandboxError};
