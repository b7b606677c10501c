//! Compiles an image's layers once; runwasi keeps the result in containerd's content store and
//! passes it to every later container of the image.
//!
//! runwasi takes one lease for everything precompiled with an engine, and a second container that
//! begins meanwhile would not start at all. So only one shim of a node precompiles at a time; the
//! others compile for themselves.

use std::fs::File;
use std::hash::Hash;
use std::time::Duration;

use anyhow::{Result, anyhow};
use containerd_shim_wasm::sandbox::context::WasmLayer;
use containerd_shim_wasm::shim::Compiler;
use wasmtime::Engine;

use crate::engine::engine;
use crate::guest::Kind;

/// Locked by the shim that precompiles.
const LOCK: &str = "/run/containerd-shim-wasmtime.precompile";
/// How long runwasi may take to store the compiled code.
const STORING: Duration = Duration::from_secs(5);

/// Compiles for the engine of this shim on this machine.
pub struct Precompiler(Engine);

impl Precompiler {
    /// Fails if the engine cannot be configured.
    pub fn new() -> Result<Self> {
        engine().map(Self).map_err(|error| anyhow!("{error:?}"))
    }

    fn compile_layer(&self, layer: &WasmLayer) -> Result<Option<Vec<u8>>> {
        if layer.precompiled {
            return Ok(None);
        }
        let compiled = match Kind::from_bytes(&layer.layer)? {
            Kind::Module => self.0.precompile_module(&layer.layer),
            Kind::Component => self.0.precompile_component(&layer.layer),
        };
        compiled.map(Some).map_err(|error| anyhow!("{error:?}"))
    }
}

impl Compiler for Precompiler {
    fn cache_key(&self) -> impl Hash {
        self.0.precompile_compatibility_hash()
    }

    async fn compile(&self, layers: &[WasmLayer]) -> Result<Vec<Option<Vec<u8>>>> {
        let lock = File::create(LOCK)?;
        if lock.try_lock().is_err() {
            return Ok(vec![None; layers.len()]);
        }
        let compiled = layers
            .iter()
            .map(|layer| self.compile_layer(layer))
            .collect();
        tokio::spawn(async move {
            tokio::time::sleep(STORING).await;
            drop(lock);
        });
        compiled
    }
}
