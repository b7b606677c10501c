//! Code compiled ahead of time: when the image was built, or to verify the mode.

#![expect(
    unsafe_code,
    reason = "the engine runs such code as it is, without looking at it"
)]

use wasmtime::{Engine, Module, Result};

/// Loads a module from what [`compile`] returned. The engine checks the version, the settings and
/// the processor, but not the code.
pub fn load(engine: &Engine, code: &[u8]) -> Result<Module> {
    // SAFETY: the bytes are those of a file of the image, or were compiled by this process. Whoever
    // can change the one can change this program as well.
    unsafe { Module::deserialize(engine, code) }
}

/// Compiles a module in its binary form into what [`load`] takes.
pub fn compile(engine: &Engine, module: &[u8]) -> Result<Vec<u8>> {
    engine.precompile_module(module)
}
