//! `wasmer`: runs a WASI command, calls a function, or compiles a module, with Wasmer's library.
//! Input: arguments, and for a command its standard input. Output: what the guest writes, or code
//! in a file.
//!
//! A Wasm file is compiled at each start, for this machine. Any other file must be code from
//! `compile`: it is given to an engine without a compiler, so that nothing is compiled where code
//! was meant.

mod wasi;

use std::error::Error;
use std::io::Write as _;
use std::process::ExitCode;
use wasmer::sys::{CpuFeature, Target, Triple};
use wasmer::sys::{Cranelift, EngineBuilder};
use wasmer::{Engine, FunctionEnv, Imports, Instance, Module, Store};

const USAGE: &str = "\
usage: wasmer --version
       wasmer run FILE                            runs a WASI command
       wasmer run --invoke FUNCTION FILE NUMBER   calls a function and prints what it gives
       wasmer compile -o CODE FILE                for any processor of this architecture
";
/// The magic number of every Wasm module.
const WASM: &[u8] = b"\0asm";

type Outcome = Result<ExitCode, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["--version"] => print(&format!("wasmer {}", wasmer_compiler::VERSION)),
        ["run", file] => run(file),
        ["run", "--invoke", function, file, number] => invoke(file, function, number),
        ["compile", "-o", code, file] => compile(file, code),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    outcome.unwrap_or_else(|error| {
        eprintln!("wasmer: {error}");
        ExitCode::FAILURE
    })
}

/// Runs a WASI command with this process's standard streams.
fn run(file: &str) -> Outcome {
    let (mut store, module) = load(file)?;
    let env = FunctionEnv::new(&mut store, wasi::Guest::default());
    let imports = wasi::imports(&mut store, &env);
    let instance = Instance::new(&mut store, &module, &imports)?;
    env.as_mut(&mut store).memory = Some(instance.exports.get_memory("memory")?.clone());
    let start = instance
        .exports
        .get_typed_function::<(), ()>(&store, "_start")?;
    match start.call(&mut store) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => Ok(error.downcast::<wasi::Exit>()?.into()),
    }
}

fn invoke(file: &str, function: &str, number: &str) -> Outcome {
    let number: i32 = number.parse()?;
    let (mut store, module) = load(file)?;
    let instance = Instance::new(&mut store, &module, &Imports::new())?;
    let function = instance
        .exports
        .get_typed_function::<i32, i32>(&store, function)?;
    print(&function.call(&mut store, number)?.to_string())
}

fn compile(file: &str, code: &str) -> Outcome {
    let engine = compiler(any_processor());
    let module = Module::new(&engine, std::fs::read(file)?)?;
    module.serialize_to_file(code)?;
    Ok(ExitCode::SUCCESS)
}

fn load(file: &str) -> Result<(Store, Module), Box<dyn Error>> {
    let bytes = std::fs::read(file).map_err(|error| format!("could not read {file}: {error}"))?;
    let (engine, module);
    if bytes.starts_with(WASM) {
        engine = compiler(Target::default());
        module = Module::new(&engine, bytes)?;
    } else {
        engine = Engine::from(EngineBuilder::headless());
        // SAFETY: whoever names a file to run trusts it, as with any program; its layout is
        // checked.
        module = unsafe { Module::deserialize(&engine, bytes) }?;
    }
    Ok((Store::new(engine), module))
}

fn compiler(target: Target) -> Engine {
    EngineBuilder::new(Cranelift::default())
        .set_target(Some(target))
        .into()
}

/// The features that every processor of the architecture has by definition.
fn any_processor() -> Target {
    let least = if cfg!(target_arch = "x86_64") {
        CpuFeature::SSE2
    } else {
        CpuFeature::NEON
    };
    Target::new(Triple::host(), least.into())
}

fn print(line: &str) -> Outcome {
    writeln!(std::io::stdout(), "{line}")?;
    Ok(ExitCode::SUCCESS)
}
