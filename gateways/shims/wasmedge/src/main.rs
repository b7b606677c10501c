//! `containerd-shim-wasmedge-v1`: runs the Wasm modules of a pod with WasmEdge.
//!
//! Input: containerd's calls, which the runwasi library handles, and an image whose layer is a Wasm
//! module or whose entrypoint is a Wasm file. Output: a process per container that runs the guest.
//! A module into which `wasmedge compile` has put code for this architecture runs that code; any
//! other is interpreted.
//!
//! Reading order: [`WasmEdge`] (what runwasi calls), `guest` (a container's module to its end),
//! `module` (what an image holds), `engine` (WasmEdge's library).

mod engine;
mod guest;
mod module;

use anyhow::Result;
use containerd_shim_wasm::sandbox::Sandbox;
use containerd_shim_wasm::sandbox::context::RuntimeContext;
use containerd_shim_wasm::shim::{Cli as _, Shim, Version, version};

/// The shim, as a type of runwasi. It compiles nothing: WasmEdge's compiler takes minutes of CPU
/// time for what a build does once, and interpretation is a mode to be measured.
struct WasmEdge;

impl Shim for WasmEdge {
    type Sandbox = WasmEdgeSandbox;

    fn name() -> &'static str {
        "wasmedge"
    }

    fn version() -> Version {
        version!()
    }
}

/// One container.
#[derive(Default)]
struct WasmEdgeSandbox;

impl Sandbox for WasmEdgeSandbox {
    async fn run_wasi(&self, context: &impl RuntimeContext) -> Result<i32> {
        guest::run(context)
            .await
            .inspect_err(|error| eprintln!("the shim failed: {error:#}"))
    }
}

fn main() {
    WasmEdge::run(None);
}
