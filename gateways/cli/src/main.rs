//! The gateway with each answer passed through a Wasm module by a process of a runtime's command line:
//! the body is its standard input, its standard output the answer. And, with the argument `serve`, the gateway
//! itself as the guest of such a process.

mod compute;
mod front;
mod runtime;
mod serve;

use front::Front;
use gateway_http::{Program, Workloads, run};
use serve::Serve;
use std::io::Write as _;
use std::process::ExitCode;

const HELP: &str = "\
  --runtime NAME             wasmtime or wasmedge; must be given
  --engine-compile NAME      Aot: the module was compiled before; or Interpreter, of wasmedge (Aot)
  --program FILE             the runtime (/usr/bin/NAME)
  --module FILE              the WASI command that changes each answer (/transform.cwasm of wasmtime,
                             /transform-aot.wasm or /transform.wasm of wasmedge)
  --compute-module FILE      what 'compute-module' of this program wrote, prepared like the module: for
                             /engine (/compute.cwasm, /compute-aot.wasm or /compute.wasm)
  --children N               processes at once (twice the number of CPUs)
  --child-timeout-ms N       for a process to answer, the wait for its turn included (10000)
";

/// The only argument of the build of an image: writes the module that /engine computes with.
const COMPUTE_MODULE: &str = "compute-module";
/// Runs the gateway as a guest; further arguments are the guest's.
const SERVE: &str = "serve";

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some(COMPUTE_MODULE) => written(&std::io::stdout().lock().write_all(compute::MODULE)),
        Some(SERVE) => {
            let sentence = Serve::of_process();
            let _ = writeln!(std::io::stderr(), "wasmbench: cli: {sentence}");
            ExitCode::FAILURE
        }
        _ => run(
            Program {
                name: "cli",
                help: HELP,
            },
            |settings| Front::take(settings).map(Workloads::new),
        ),
    }
}

fn written(result: &std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
