//! A module from code that this process compiled. Each function gets a copy of its own, so that its memory is its own.

#![expect(
    unsafe_code,
    reason = "the engine runs such code as it is, without looking at it"
)]

use action_host::compiled::Compiled;
use wasmtime::{Engine, Module, Result};

/// A module, compiled unless it was before.
pub fn kept(engine: &Engine, compiled: &Compiled, code: &[u8]) -> Result<Module> {
    let compiled = compiled.of(code, |code| engine.precompile_module(code))?;
    // SAFETY: this process compiled the bytes, and nobody else can write to them.
    unsafe { Module::deserialize(engine, &*compiled) }
}
