//! `containerd-shim-wasmtime-v1`: runs the Wasm modules and components of a pod with wasmtime.
//!
//! Input: containerd's calls, which the runwasi library handles, and an image whose layers are Wasm
//! or whose entrypoint is a Wasm file. Output: a process per container that runs the guest, and,
//! once per image, its compiled form in containerd's content store.
//!
//! Reading order: [`Wasmtime`] (what runwasi calls), `engine` (one configuration for compiling and
//! running), `guest` (modules and commands), `http` (components that handle requests), `store`
//! (what a guest may see).

mod engine;
mod guest;
mod http;
mod precompiler;
mod store;

use anyhow::Result;
use containerd_shim_wasm::sandbox::Sandbox;
use containerd_shim_wasm::sandbox::context::RuntimeContext;
use containerd_shim_wasm::shim::{Cli as _, Compiler, Shim, Version, version};

use crate::precompiler::Precompiler;

/// The shim, as a type of runwasi.
struct Wasmtime;

impl Shim for Wasmtime {
    type Sandbox = WasmtimeSandbox;

    fn name() -> &'static str {
        "wasmtime"
    }

    fn version() -> Version {
        version!()
    }

    async fn compiler() -> Option<impl Compiler> {
        Precompiler::new()
            .inspect_err(|error| eprintln!("images are not precompiled: {error:#}"))
            .ok()
    }
}

/// One container.
#[derive(Default)]
struct WasmtimeSandbox;

impl Sandbox for WasmtimeSandbox {
    async fn run_wasi(&self, context: &impl RuntimeContext) -> Result<i32> {
        guest::run(context)
            .await
            .inspect_err(|error| eprintln!("the shim failed: {error:#}"))
    }
}

fn main() {
    Wasmtime::run(None);
}
