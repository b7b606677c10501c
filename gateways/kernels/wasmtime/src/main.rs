//! The executor that runs kernels in Wasmtime. All modules are compiled at its start; each call has
//! an instance of its own.
//!
//! Reading order: [`mode`] (bounds checks and allocator, in the engine's settings), [`engine`]
//! (calls), [`unchecked`] (memory without bounds checks).

mod engine;
mod mode;
mod unchecked;

use std::process::ExitCode;

use engine::Wasmtime;
use kernel_executor::{modules, program};
use mode::Mode;

fn main() -> ExitCode {
    program::main("kernel-wasmtime", |options| {
        let mode = Mode::new(options)?;
        let modules = modules::read(&options.folder)?;
        Wasmtime::new(mode, options.threads, &modules)
    })
}
