//! Loads a module from code that this process compiled. Each function gets its own copy, so that
//! functions share no memory.

#![expect(
    unsafe_code,
    reason = "the engine runs such code as it is, without looking at it"
)]

use action_host::compiled::Compiled;
use wasmtime::{Engine, Module, Result};

/// Returns a module, compiled unless it was compiled before.
pub fn kept(engine: &Engine, compiled: &Compiled, code: &[u8]) -> Result<Module> {
    let compiled = compiled.get_or_compile(code, |code| engine.precompile_module(code))?;
    // SAFETY: this process compiled the bytes, and nobody else can write to them.
    unsafe { Module::deserialize(engine, &*compiled) }
}
