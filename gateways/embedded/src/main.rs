//! The gateway with each response passed through a Wasm module in an embedded Wasmtime.

mod precompile;

use gateway_embedded::{Allocator, Compile, Memory, Mode, Sandbox};
use gateway_http::{Invalid, Program, Settings, Workloads, run};
use std::process::ExitCode;

const HELP: &str = "\
  --module FILE              the WASI command that changes each answer (/transform.wasm; with Aot
                             /transform-ondemand.cwasm or /transform-pooling.cwasm)
  --engine-allocator NAME    OnDemand or Pooling (OnDemand)
  --engine-memory NAME       Mapped, or Heap, which a pool cannot be (Heap; Mapped in a pool)
  --engine-compile NAME      Jit, or Aot: the module is a file that was made by
                             'precompile ALLOCATOR MODULE OUTPUT' of this program (Jit)
";

fn main() -> ExitCode {
    if let Some(ended) = precompile::precompiled(std::env::args().skip(1)) {
        return ended;
    }
    run(
        Program {
            name: "embedded",
            help: HELP,
        },
        |settings| sandbox(settings).map(Workloads::new),
    )
}

fn sandbox(settings: &mut Settings) -> Result<Sandbox, Invalid> {
    let allocator = settings.take_parsed(
        "engine-allocator",
        Allocator::default(),
        "OnDemand or Pooling",
        Allocator::from_name,
    )?;
    let compile = settings.take_parsed(
        "engine-compile",
        Compile::default(),
        "Jit or Aot",
        Compile::from_name,
    )?;
    let memory = settings.take_parsed(
        "engine-memory",
        allocator.usual_memory(),
        "Mapped or Heap",
        Memory::from_name,
    )?;
    let Some(mode) = Mode::new(allocator, memory) else {
        return Err(Invalid(
            "with --engine-allocator Pooling the memory is Mapped".to_owned(),
        ));
    };
    let path = settings
        .take("module")
        .unwrap_or_else(|| usual_module(allocator, compile).to_owned());
    let bytes = std::fs::read(&path)
        .map_err(|error| Invalid(format!("could not read the Wasm module {path}: {error}")))?;
    Sandbox::new(mode.compiled(compile), &bytes)
        .map_err(|error| Invalid(format!("{path}: {error}")))
}

/// The path of the module in the image. Compiled code depends on how memory is allocated.
fn usual_module(allocator: Allocator, compile: Compile) -> &'static str {
    match (compile, allocator) {
        (Compile::Jit, _) => "/transform.wasm",
        (Compile::Aot, Allocator::OnDemand) => "/transform-ondemand.cwasm",
        (Compile::Aot, Allocator::Pooling) => "/transform-pooling.cwasm",
    }
}
