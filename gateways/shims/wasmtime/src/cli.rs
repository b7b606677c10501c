//! `wasmtime`: the commands run, serve and compile of wasmtime's own command line, for the presets
//! that call them. Input: arguments. Output: what these commands do; it contains nothing of the
//! shim.

use clap::Parser;
use wasmtime_cli::commands::{CompileCommand, RunCommand, ServeCommand};

/// Wasmtime WebAssembly Runtime
#[derive(Parser)]
#[command(name = "wasmtime", version = env!("WASMTIME_VERSION"))]
enum Command {
    /// Runs a WebAssembly module
    Run(RunCommand),
    /// Serves requests from a wasi-http proxy component
    Serve(ServeCommand),
    /// Compiles a WebAssembly module
    Compile(CompileCommand),
}

fn main() -> wasmtime::Result<()> {
    match Command::parse() {
        Command::Run(command) => command.execute(),
        Command::Serve(command) => command.execute(),
        Command::Compile(command) => command.execute(),
    }
}
