//! The engine's configuration, in one place: what is compiled under it must run under it.

use wasmtime::{Config, Engine, Result};

/// An engine as every container and the precompiler use it: Cranelift, instances on demand (a
/// container has one).
pub fn engine() -> Result<Engine> {
    let mut config = Config::new();
    config.wasm_backtrace_max_frames(std::num::NonZeroUsize::new(16));
    Engine::new(&config)
}
