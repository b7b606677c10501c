//! The gateway with each answer passed through a Wasm module in an embedded Wasmtime.

use gateway_embedded::{Allocator, Memory, Mode, Sandbox};
use gateway_http::{Invalid, Program, Settings, Workloads, run};
use std::process::ExitCode;

const HELP: &str = "\
  --module FILE              the WASI command that changes each answer (/transform.wasm)
  --engine-allocator NAME    OnDemand or Pooling (OnDemand)
  --engine-memory NAME       Mapped, or Heap, which a pool cannot be (Heap; Mapped in a pool)
";

fn main() -> ExitCode {
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
        .unwrap_or_else(|| "/transform.wasm".to_owned());
    let bytes = std::fs::read(&path)
        .map_err(|error| Invalid(format!("could not read the Wasm module {path}: {error}")))?;
    Sandbox::new(mode, &bytes).map_err(|error| Invalid(format!("{path}: {error}")))
}
