//! Compiles an image's layers once; runwasi keeps the result in containerd's content store and
//! hands it to every later container of the image.

use std::hash::Hash;

use anyhow::{Result, anyhow};
use containerd_shim_wasm::sandbox::context::WasmLayer;
use containerd_shim_wasm::shim::Compiler;
use wasmtime::Engine;

use crate::engine::engine;
use crate::guest::Kind;

/// Compiles for the engine of this shim on this machine.
pub struct Precompiler(Engine);

impl Precompiler {
    /// Fails where the engine cannot be configured.
    pub fn new() -> Result<Self> {
        engine().map(Self).map_err(|error| anyhow!("{error:?}"))
    }

    fn compile_layer(&self, layer: &WasmLayer) -> Result<Option<Vec<u8>>> {
        if layer.precompiled {
            return Ok(None);
        }
        let compiled = match Kind::of(&layer.layer)? {
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
        layers
            .iter()
            .map(|layer| self.compile_layer(layer))
            .collect()
    }
}
