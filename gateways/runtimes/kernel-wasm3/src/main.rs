//! The executor that runs kernels in the interpreter wasm3, which compares each address with the
//! memory's length. It loads a module for each instance, and translates a function when that is first
//! called: both are part of each call.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use kernel_executor::{
    BoundsChecks, Done, Engine, Facts, Options, Worker, chain, engine_facts, modules, program,
};
use wasm3::{Environment, wasm3_sys};

/// Slots of the interpreter's stack, of four bytes each: kernels need little.
const STACK_SLOTS: u32 = 16 * 1024;

type Error = Box<dyn std::error::Error>;

/// Modules of kernels.
struct Wasm3 {
    kernels: BTreeMap<String, Vec<u8>>,
    chain: Duration,
}

fn main() -> ExitCode {
    program::main("kernel-wasm3", |options| {
        check(options)?;
        Wasm3::new(modules::read(&options.folder)?)
    })
}

/// Refuses what this interpreter cannot do.
fn check(options: &Options) -> Result<(), String> {
    let checks = options.bounds_checks.unwrap_or(BoundsChecks::Explicit);
    if checks != BoundsChecks::Explicit {
        return Err("the interpreter compares each address: use the bounds checks Explicit".into());
    }
    options.only_on_demand("wasm3")
}

fn environment() -> Result<Environment, String> {
    Environment::new().map_err(|error| format!("no engine: {error}"))
}

impl Wasm3 {
    fn new(kernels: BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        let environment = environment()?;
        for (name, module) in &kernels {
            let parsed = environment.parse_module(module.clone());
            parsed.map_err(|error| format!("kernel '{name}': {error}"))?;
        }
        let chain = chain::shortest(|steps| {
            compute(&environment, steps).map_err(|error| error.to_string())
        })?;
        Ok(Self { kernels, chain })
    }
}

fn compute(environment: &Environment, steps: i32) -> Result<(i32, Duration), Error> {
    let runtime = environment.create_runtime(STACK_SLOTS)?;
    let module = runtime.parse_and_load_module(chain::MODULE)?;
    let chain = module.find_function::<i32, i32>("chain")?;
    let began = Instant::now();
    let result = chain.call(steps)?;
    Ok((result, began.elapsed()))
}

fn run(environment: &Environment, module: &[u8], repeats: u32) -> Result<Done, Error> {
    let repeats = i32::try_from(repeats)?;
    let making = Instant::now();
    let runtime = environment.create_runtime(STACK_SLOTS)?;
    let module = runtime.parse_and_load_module(module)?;
    let run = module.find_function::<i32, f64>("run")?;
    let made = making.elapsed();
    let checksum = run.call(repeats)?;
    let dropping = Instant::now();
    drop(runtime);
    let outside = made + dropping.elapsed();
    Ok(Done {
        checksum_bits: checksum.to_bits(),
        instance_nanoseconds: u64::try_from(outside.as_nanos())?,
        process: None,
    })
}

impl Engine for Wasm3 {
    fn facts(&self) -> Facts {
        let version = format!(
            "{}.{}.{}",
            wasm3_sys::M3_VERSION_MAJOR,
            wasm3_sys::M3_VERSION_MINOR,
            wasm3_sys::M3_VERSION_REV
        );
        let mut facts = engine_facts("wasm3", &version, "Interpreter");
        facts.insert("boundsChecks".into(), BoundsChecks::Explicit.name().into());
        let nanoseconds = u64::try_from(self.chain.as_nanos()).unwrap_or(u64::MAX);
        facts.insert(chain::CHAIN_NANOSECONDS.into(), nanoseconds.into());
        facts
    }

    fn worker(&self) -> Result<impl Worker, String> {
        Ok(Thread {
            kernels: &self.kernels,
            environment: environment()?,
        })
    }
}

/// An environment belongs to its thread.
struct Thread<'a> {
    kernels: &'a BTreeMap<String, Vec<u8>>,
    environment: Environment,
}

impl Worker for Thread<'_> {
    fn call(&mut self, kernel: &str, repeats: u32) -> Result<Done, String> {
        let Some(module) = self.kernels.get(kernel) else {
            return Err(modules::unknown(kernel));
        };
        let ran = run(&self.environment, module, repeats);
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

    #[test]
    fn a_kernel_reads_its_own_memory_and_an_access_outside_traps() {
        let modules = [("kernel".to_owned(), wat::parse_str(OUTSIDE).unwrap())].into();
        let engine = Wasm3::new(modules).unwrap();
        let mut worker = engine.worker().unwrap();
        for _ in 0..2 {
            let done = worker.call("kernel", 8).unwrap();
            assert_eq!(f64::from_bits(done.checksum_bits).to_string(), "1.5");
            for address in [65_529, 1 << 30] {
                let error = worker.call("kernel", address).unwrap_err();
                assert!(error.contains("out of bounds"), "{error}");
            }
        }
    }

    #[test]
    fn bytes_that_are_no_module_are_refused() {
        let modules = [("kernel".to_owned(), b"\0asm".to_vec())].into();
        assert!(Wasm3::new(modules).err().unwrap().contains("'kernel'"));
    }
}
