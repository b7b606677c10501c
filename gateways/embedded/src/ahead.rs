//! Code that was compiled before: when the image was built, or for a proof of the mode.

#![expect(
    unsafe_code,
    reason = "the engine runs such code as it is, without looking at it"
)]

use wasmtime::{Engine, Module, Result};

/// A module from what [`compile`] made. The engine checks version, settings and processor, and not
/// the code.
pub fn load(engine: &Engine, code: &[u8]) -> Result<Module> {
    // SAFETY: the bytes are those of a file of the image, or were compiled by this process. Whoever
    // can change the one can change this program as well.
    unsafe { Module::deserialize(engine, code) }
}

/// What [`load`] takes, from a module in its binary form.
pub fn compile(engine: &Engine, module: &[u8]) -> Result<Vec<u8>> {
    engine.precompile_module(module)
}
