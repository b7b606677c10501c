//! The executor that runs kernels in Wasmer with Cranelift. All modules are compiled at its start;
//! each call has an instance of its own.

mod compared;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use compared::Compared;
use kernel_executor::{
    BoundsChecks, Done, Engine as KernelEngine, Facts, Options, Worker, chain, engine_facts,
    modules, program,
};
use wasmer::sys::{Cranelift, EngineBuilder, NativeEngineExt as _};
use wasmer::{Engine, Imports, Instance, Module, Store};

type Error = Box<dyn std::error::Error>;

/// Compiled kernels.
struct Wasmer {
    engine: Engine,
    kernels: BTreeMap<String, Module>,
    checks: BoundsChecks,
    chain: Duration,
}

fn main() -> ExitCode {
    program::main("kernel-wasmer", |options| {
        let checks = checks(options)?;
        Wasmer::new(checks, &modules::read(&options.folder)?)
    })
}

/// The bounds checks of these options; by default the engine's own.
fn checks(options: &Options) -> Result<BoundsChecks, String> {
    options.only_on_demand("Wasmer")?;
    match options.bounds_checks.unwrap_or(BoundsChecks::Guard) {
        BoundsChecks::Clamp | BoundsChecks::None => {
            Err("Wasmer leaves out no checks: use the bounds checks Guard or Explicit".into())
        }
        checks => Ok(checks),
    }
}

impl Wasmer {
    fn new(checks: BoundsChecks, modules: &BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        let mut engine = Engine::from(EngineBuilder::new(Cranelift::default()).engine());
        if checks == BoundsChecks::Explicit {
            engine.set_tunables(Compared::new());
        }
        let mut kernels = BTreeMap::new();
        for (name, module) in modules {
            let kernel = Module::new(&engine, module);
            let kernel = kernel.map_err(|error| format!("kernel '{name}': {error}"))?;
            if let Some(import) = kernel.imports().next() {
                let import = (import.module(), import.name());
                return Err(format!("kernel '{name}' imports {}.{}", import.0, import.1));
            }
            kernels.insert(name.clone(), kernel);
        }
        let chain = Module::new(&engine, chain::MODULE).map_err(|error| error.to_string())?;
        Ok(Self {
            chain: chain::shortest(|steps| {
                compute(&engine, &chain, steps).map_err(|error| error.to_string())
            })?,
            engine,
            kernels,
            checks,
        })
    }

    fn run(&self, kernel: &Module, repeats: u32) -> Result<Done, Error> {
        let repeats = i32::try_from(repeats)?;
        let making = Instant::now();
        let mut store = Store::new(self.engine.clone());
        let instance = Instance::new(&mut store, kernel, &Imports::new())?;
        let run = instance
            .exports
            .get_typed_function::<i32, f64>(&store, "run")?;
        let made = making.elapsed();
        // Its `Display` would add the calls that led there.
        let checksum = run.call(&mut store, repeats);
        let checksum = checksum.map_err(|error| error.message())?;
        let dropping = Instant::now();
        drop((run, instance, store));
        let outside = made + dropping.elapsed();
        Ok(Done {
            checksum_bits: checksum.to_bits(),
            instance_nanoseconds: u64::try_from(outside.as_nanos())?,
            process: None,
        })
    }
}

fn compute(engine: &Engine, module: &Module, steps: i32) -> Result<(i32, Duration), Error> {
    let mut store = Store::new(engine.clone());
    let instance = Instance::new(&mut store, module, &Imports::new())?;
    let chain = instance
        .exports
        .get_typed_function::<i32, i32>(&store, "chain")?;
    let began = Instant::now();
    let result = chain.call(&mut store, steps)?;
    Ok((result, began.elapsed()))
}

impl KernelEngine for Wasmer {
    fn facts(&self) -> Facts {
        let mut facts = engine_facts("wasmer", wasmer_compiler::VERSION, "Jit");
        facts.insert("compiler".into(), "cranelift".into());
        facts.insert("boundsChecks".into(), self.checks.name().into());
        let nanoseconds = u64::try_from(self.chain.as_nanos()).unwrap_or(u64::MAX);
        facts.insert(chain::CHAIN_NANOSECONDS.into(), nanoseconds.into());
        facts
    }

    fn worker(&self) -> Result<impl Worker, String> {
        Ok(Thread(self))
    }
}

/// Threads share everything.
struct Thread<'a>(&'a Wasmer);

impl Worker for Thread<'_> {
    fn call(&mut self, kernel: &str, repeats: u32) -> Result<Done, String> {
        let Some(module) = self.0.kernels.get(kernel) else {
            return Err(modules::unknown(kernel));
        };
        let ran = self.0.run(module, repeats);
        ran.map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a double at the address that it takes for its repeats.
    const OUTSIDE: &str = r#"(module (memory (export "memory") 1)
      (data (i32.const 8) "\00\00\00\00\00\00\f8\3f")
      (func (export "run") (param i32) (result f64) (f64.load (local.get 0))))"#;

    fn engine(checks: BoundsChecks, text: &str) -> Result<Wasmer, String> {
        let modules = [("kernel".to_owned(), wat::parse_str(text).unwrap())].into();
        Wasmer::new(checks, &modules)
    }

    fn call(engine: &Wasmer, argument: u32) -> Result<f64, String> {
        let done = Thread(engine).call("kernel", argument);
        done.map(|done| f64::from_bits(done.checksum_bits))
    }

    #[test]
    fn a_kernel_reads_its_own_memory_and_an_access_outside_traps() {
        for checks in [BoundsChecks::Guard, BoundsChecks::Explicit] {
            let engine = engine(checks, OUTSIDE).unwrap();
            for _ in 0..2 {
                assert_eq!(call(&engine, 8), Ok(1.5), "{checks:?}");
                for address in [65_529, 1 << 30] {
                    let error = call(&engine, address).unwrap_err();
                    assert!(error.contains("out of bounds"), "{checks:?}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_module_that_is_no_kernel_is_refused() {
        let imports = r#"(module (import "env" "sqrt" (func)))"#;
        let error = engine(BoundsChecks::Guard, imports).err().unwrap();
        assert!(error.contains("env.sqrt"), "{error}");
    }
}
