//! Settings of the Wasm engine of a preset.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of a Wasm engine.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Engine {
    /// How instances get their memory; only for `wasmtime-embedded`.
    #[serde(default)]
    pub allocator: Allocator,

    /// When the module is compiled, if at all. `wasmtime-serve`: `Jit` (default) or `Aot`.
    /// `wasmtime-embedded`, `wasmer-cli`, `action-wasmtime` and `action-wasmer`: `Aot` (default) or
    /// `Jit`. `wasmedge-cli`, `wasmedge-shim` and `wasmedge-server`: `Aot` (default) or
    /// `Interpreter`.
    pub compile: Option<Compile>,
}

/// When a Wasm module is compiled.
#[derive(
    Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, PartialEq, Eq, strum::IntoStaticStr,
)]
pub enum Compile {
    /// At run time, for the node's processor: when the service starts (part of its cold start), in
    /// each process (`wasmer-cli`) or at each `/init` (`action-...`).
    Jit,
    /// When the image is built, for any processor of the architecture; for `action-...`, once per
    /// module.
    Aot,
    /// Never: the runtime interprets the module.
    Interpreter,
}

/// How Wasm instances get their memory.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
)]
pub enum Allocator {
    /// Mapped when the instance is created and unmapped when it ends.
    #[default]
    OnDemand,
    /// Taken from a pool that is reserved when the engine starts.
    Pooling,
}
