//! Settings of the Wasm engine of a preset.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of a Wasm engine.
#[serde_with::skip_serializing_none]
#[derive(Serialize, Deserialize, JsonSchema, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct Engine {
    /// How instances get their memory: `OnDemand` or `Pooling` for `wasmtime-embedded`, each for
    /// `kernel-wasmtime`, where all but `OnDemand` need `boundsChecks: Guard`.
    #[serde(default)]
    pub allocator: Allocator,

    /// When the module is compiled, if at all. `wasmtime-serve`: `Jit` (default) or `Aot`.
    /// `wasmtime-embedded`, `wasmer-cli`, `action-wasmtime` and `action-wasmer`: `Aot` (default) or
    /// `Jit`. `wasmedge-cli`, `wasmedge-shim` and `wasmedge-server`: `Aot` (default) or
    /// `Interpreter`.
    pub compile: Option<Compile>,

    /// How the engine keeps a module within its memory; only for the presets `kernel-...` that run
    /// Wasm: `Guard` (default), `Explicit` and `None` for `kernel-wasmtime` and `kernel-v8`, also
    /// `Clamp` for `kernel-wasm2c-gcc` and `kernel-wasm2c-clang`, `Guard` and `Explicit` for
    /// `kernel-wasmer`, and nothing but `Explicit` for `kernel-wasm3` and `kernel-wamr`. `Clamp` and `None` are unsafe: the name of the variant has to say so.
    pub bounds_checks: Option<BoundsChecks>,

    /// Calls that are executed at once, each on a thread of its own in one process, or natively in
    /// a process of its own; further calls wait. Only for the presets `kernel-...`. The run needs a
    /// node with as many CPUs. Default: 1.
    #[schemars(range(min = 1, max = MOST_THREADS))]
    pub threads: Option<u32>,
}

/// The most calls that a kernel server executes at once.
const MOST_THREADS: u32 = 4;

/// How an engine keeps a Wasm module within its linear memory.
#[derive(
    Serialize,
    Deserialize,
    JsonSchema,
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    strum::IntoStaticStr,
    strum::EnumIter,
)]
pub enum BoundsChecks {
    /// By pages behind the memory that cannot be accessed: the processor checks.
    Guard,
    /// By a comparison before each access, and a trap.
    Explicit,
    /// Unsafe: an access beyond the end goes to the end instead, and nobody notices.
    Clamp,
    /// Unsafe: not at all.
    None,
}

impl BoundsChecks {
    /// Returns whether an access out of bounds goes unnoticed.
    pub const fn is_unsafe(self) -> bool {
        match self {
            Self::Guard | Self::Explicit => false,
            Self::Clamp | Self::None => true,
        }
    }
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
    strum::EnumIter,
)]
pub enum Allocator {
    /// Mapped when the instance is created and unmapped when it ends; the pages of the module's
    /// initial data are shared until they are written to.
    #[default]
    OnDemand,
    /// Mapped likewise, and the initial data copied.
    OnDemandCopied,
    /// Taken from a pool that is reserved when the engine starts; the pages are shared as with
    /// `OnDemand`, and given back when the instance ends.
    Pooling,
    /// Taken from a pool, and the initial data copied.
    PoolingCopied,
    /// Taken from a pool; the pages of several ended instances are given back in one call.
    PoolingBatched,
}
