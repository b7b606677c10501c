//! The gateway with each response passed through a Wasm module by a process of a runtime's command
//! line: the body is its standard input, the response its standard output. With `serve` it becomes
//! a runtime's own server, with `serve-wasmedge` a WasmEdge process whose guest is the gateway
//! itself.

mod compute;
mod front;
mod runtime;
mod serve;
mod serve_wasmedge;
mod spawn;

use front::Front;
use gateway_http::{Program, Workloads, run};
use serve_wasmedge::Serve;
use std::io::Write as _;
use std::process::ExitCode;

const HELP: &str = "\
  --runtime NAME             wasmtime, wasmedge, v8 or wasmer; must be given
  --engine-compile NAME      Aot: the module was compiled before; or Interpreter, of wasmedge (Aot); Jit
                             of v8; Aot or Jit of wasmer (Aot)
  --program FILE             the runtime (/usr/bin/NAME; of v8 /usr/bin/node, which runs /wasi.cjs)
  --module FILE              the WASI command that changes each answer (/transform.cwasm of wasmtime,
                             /transform-aot.wasm or /transform.wasm of wasmedge, /transform.wasm of v8,
                             /transform.wasmu or /transform.wasm of wasmer)
  --compute-module FILE      what 'compute-module' of this program wrote, prepared like the module: for
                             /engine (/compute.cwasm, /compute-aot.wasm, /compute.wasmu or /compute.wasm)
  --children N               processes at once (twice the number of CPUs)
  --child-timeout-ms N       for a process to answer, the wait for its turn included (9000)
First argument 'serve': wasmtime's own server instead; see 'serve --help'. 'serve-wasmedge': the gateway
itself as the guest of wasmedge; further arguments are the guest's.
";

/// The only argument during an image build: writes the module that `/engine` runs.
const COMPUTE_MODULE: &str = "compute-module";

/// Runs the gateway as a guest of WasmEdge; further arguments are the guest's.
const SERVE_WASMEDGE: &str = "serve-wasmedge";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(COMPUTE_MODULE) => {
            return written(&std::io::stdout().lock().write_all(compute::MODULE));
        }
        Some(SERVE_WASMEDGE) => {
            let message = Serve::of_process();
            let _ = writeln!(std::io::stderr(), "wasmbench: cli: {message}");
            return ExitCode::FAILURE;
        }
        _ => {}
    }
    let arguments = || std::env::args().skip(1);
    if let Some(ended) = serve::served(arguments()).or_else(|| spawn::measured(arguments())) {
        return ended;
    }
    run(
        Program {
            name: "cli",
            help: HELP,
        },
        |settings| Front::take(settings).map(Workloads::new),
    )
}

fn written(result: &std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
