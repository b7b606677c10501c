//! Kernels in Wasmtime: an instance for each call.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kernel_executor::{Done, Engine as KernelEngine, Facts, Worker, chain, engine_facts, modules};
use wasmtime::{Engine, InstancePre, Linker, Module, Result, Store};

use crate::mode::Mode;

/// Compiled kernels.
pub struct Wasmtime {
    engine: Engine,
    kernels: BTreeMap<String, InstancePre<()>>,
    mode: Mode,
    chain: Duration,
}

impl Wasmtime {
    /// Compiles all modules.
    pub fn new(
        mode: Mode,
        threads: usize,
        modules: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Self, String> {
        let threads = u32::try_from(threads).map_err(|error| error.to_string())?;
        let engine = Engine::new(&mode.config(threads));
        let engine = engine.map_err(|error| format!("no engine: {error:#}"))?;
        let mut kernels = BTreeMap::new();
        for (name, module) in modules {
            let kernel = prepare(&engine, module);
            let kernel = kernel.map_err(|error| format!("kernel '{name}': {error:#}"))?;
            kernels.insert(name.clone(), kernel);
        }
        Ok(Self {
            chain: chain::shortest(|steps| {
                compute(&engine, steps).map_err(|error| root_cause(&error))
            })?,
            engine,
            kernels,
            mode,
        })
    }

    fn run(&self, kernel: &InstancePre<()>, repeats: u32) -> Result<Done> {
        let making = Instant::now();
        let mut store = Store::new(&self.engine, ());
        let instance = kernel.instantiate(&mut store)?;
        let run = instance.get_typed_func::<u32, f64>(&mut store, "run")?;
        let made = making.elapsed();
        let checksum = run.call(&mut store, repeats)?;
        let dropping = Instant::now();
        drop(store);
        let instance = made + dropping.elapsed();
        Ok(Done {
            checksum_bits: checksum.to_bits(),
            instance_nanoseconds: u64::try_from(instance.as_nanos())?,
            process: None,
        })
    }
}

fn prepare(engine: &Engine, module: &[u8]) -> Result<InstancePre<()>> {
    let module = Module::new(engine, module)?;
    Linker::new(engine).instantiate_pre(&module)
}

fn compute(engine: &Engine, steps: i32) -> Result<(i32, Duration)> {
    let chain = prepare(engine, chain::MODULE)?;
    let mut store = Store::new(engine, ());
    let instance = chain.instantiate(&mut store)?;
    let chain = instance.get_typed_func::<i32, i32>(&mut store, "chain")?;
    let began = Instant::now();
    let result = chain.call(&mut store, steps)?;
    Ok((result, began.elapsed()))
}

/// The message without the calls that led there.
fn root_cause(error: &wasmtime::Error) -> String {
    error.root_cause().to_string()
}

impl KernelEngine for Wasmtime {
    fn facts(&self) -> Facts {
        let mut facts = engine_facts("wasmtime", env!("ENGINE_VERSION"), "Jit");
        let (checks, allocator) = (self.mode.checks.name(), self.mode.allocator.name());
        facts.insert("compiler".into(), "cranelift".into());
        facts.insert("boundsChecks".into(), checks.into());
        facts.insert("allocator".into(), allocator.into());
        facts.insert("copyOnWrite".into(), self.mode.copies_on_write().into());
        let nanoseconds = u64::try_from(self.chain.as_nanos()).unwrap_or(u64::MAX);
        facts.insert(chain::CHAIN_NANOSECONDS.into(), nanoseconds.into());
        facts
    }

    fn worker(&self) -> Result<impl Worker, String> {
        Ok(Thread(self))
    }
}

/// Threads share everything.
struct Thread<'a>(&'a Wasmtime);

impl Worker for Thread<'_> {
    fn call(&mut self, kernel: &str, repeats: u32) -> Result<Done, String> {
        let Some(prepared) = self.0.kernels.get(kernel) else {
            return Err(modules::unknown(kernel));
        };
        let ran = self.0.run(prepared, repeats);
        ran.map_err(|error| root_cause(&error))
    }
}

#[cfg(test)]
mod tests {
    use kernel_executor::{Allocator, BoundsChecks};

    use super::*;

    /// Reads a double at the address that it takes for its repeats; `far` adds the largest offset.
    const OUTSIDE: &str = r#"(module (memory (export "memory") 1)
      (data (i32.const 8) "\00\00\00\00\00\00\f8\3f")
      (func (export "run") (param i32) (result f64) (f64.load (local.get 0))))"#;
    const FAR: &str = r#"(module (memory (export "memory") 1)
      (func (export "run") (param i32) (result f64) (f64.load offset=0xfffffff0 (local.get 0))))"#;
    /// Returns how many pages its memory has after it has grown by one.
    const GROWING: &str = r#"(module (memory (export "memory") 1)
      (func (export "run") (param i32) (result f64)
        (drop (memory.grow (i32.const 1))) (f64.convert_i32_s (memory.size))))"#;

    /// The result of a call, and of the same call again.
    fn call(checks: BoundsChecks, allocator: Allocator, text: &str, address: u32) -> [String; 2] {
        let modules = [("kernel".to_owned(), wat::parse_str(text).unwrap())].into();
        let mode = Mode { checks, allocator };
        let engine = Wasmtime::new(mode, 1, &modules).unwrap();
        [(); 2].map(|()| {
            let done = engine.worker().unwrap().call("kernel", address);
            done.map_or_else(
                |error| error,
                |done| f64::from_bits(done.checksum_bits).to_string(),
            )
        })
    }

    /// Every mode with bounds checks.
    fn checked() -> impl Iterator<Item = (BoundsChecks, Allocator)> {
        let guarded = Allocator::ALL.map(|allocator| (BoundsChecks::Guard, allocator));
        let compared = (BoundsChecks::Explicit, Allocator::OnDemand);
        guarded.into_iter().chain([compared])
    }

    #[test]
    fn a_kernel_reads_its_own_memory_in_every_mode() {
        for (checks, allocator) in checked().chain([(BoundsChecks::None, Allocator::OnDemand)]) {
            let read = call(checks, allocator, OUTSIDE, 8);
            assert_eq!(read, ["1.5", "1.5"], "{checks:?} {allocator:?}");
            let grown = call(checks, allocator, GROWING, 0);
            assert_eq!(grown, ["2", "2"], "{checks:?} {allocator:?}");
        }
    }

    #[test]
    fn an_access_outside_of_the_memory_traps_with_bounds_checks() {
        for (checks, allocator) in checked() {
            for (text, address) in [(OUTSIDE, 65_529), (OUTSIDE, u32::MAX), (FAR, 0)] {
                for error in call(checks, allocator, text, address) {
                    let message = format!("{checks:?} {allocator:?} {address}: {error}");
                    assert!(error.contains("out of bounds"), "{message}");
                }
            }
        }
    }

    #[test]
    fn without_bounds_checks_no_address_traps() {
        for (text, address) in [
            (OUTSIDE, 65_529),
            (OUTSIDE, 1 << 20),
            (OUTSIDE, u32::MAX),
            (FAR, 0),
            (FAR, u32::MAX),
        ] {
            let read = call(BoundsChecks::None, Allocator::OnDemand, text, address);
            assert_eq!(read, ["0", "0"], "{address}");
        }
    }

    #[test]
    fn a_module_that_imports_something_is_no_kernel() {
        let module = wat::parse_str(r#"(module (import "env" "sqrt" (func)))"#).unwrap();
        let modules = [("roots".to_owned(), module)].into();
        let mode = Mode {
            checks: BoundsChecks::Guard,
            allocator: Allocator::OnDemand,
        };
        let error = Wasmtime::new(mode, 1, &modules).err().unwrap();
        assert!(error.starts_with("kernel 'roots': "), "{error}");
    }
}
