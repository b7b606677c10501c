//! The executor that runs kernels in WAMR's fast interpreter. All modules are loaded at its start;
//! each call has an instance of its own.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use kernel_executor::{
    BoundsChecks, Done, Engine, Facts, Options, Worker, chain, engine_facts, modules, program,
};
use wamr::{Instance, Limits, Module, version};

/// The interpreter's stack is the runtime's own default; kernels need little of it, and the memory is
/// the module's.
const LIMITS: Limits = Limits {
    stack_bytes: 64 * 1024,
    memory_pages: 0,
};

/// Loaded kernels.
struct Wamr {
    kernels: BTreeMap<String, Module>,
    chain: Duration,
}

fn main() -> ExitCode {
    program::main("kernel-wamr", |options| {
        check(options)?;
        Wamr::new(&modules::read(&options.folder)?)
    })
}

/// Refuses what this interpreter cannot do.
fn check(options: &Options) -> Result<(), String> {
    let checks = options.bounds_checks.unwrap_or(BoundsChecks::Explicit);
    if checks != BoundsChecks::Explicit {
        return Err("the interpreter compares each address: use the bounds checks Explicit".into());
    }
    options.only_on_demand("WAMR")
}

impl Wamr {
    fn new(modules: &BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        let mut kernels = BTreeMap::new();
        for (name, module) in modules {
            let kernel = Module::load(module).map_err(|why| format!("kernel '{name}': {why}"))?;
            if let Some((module, import, _)) = kernel.imports().first() {
                return Err(format!("kernel '{name}' imports {module}.{import}"));
            }
            kernels.insert(name.clone(), kernel);
        }
        let chain = Module::load(chain::MODULE)?;
        let chain = chain::shortest(|steps| {
            let mut instance = Instance::new(&chain, LIMITS)?;
            let began = Instant::now();
            let result = instance.call_i32(c"chain", steps)?;
            Ok((result, began.elapsed()))
        })?;
        Ok(Self { kernels, chain })
    }
}

impl Engine for Wamr {
    fn facts(&self) -> Facts {
        let mut facts = engine_facts("wamr", &version(), "Interpreter");
        facts.insert("interpreter".into(), "fast".into());
        facts.insert("boundsChecks".into(), BoundsChecks::Explicit.name().into());
        let nanoseconds = u64::try_from(self.chain.as_nanos()).unwrap_or(u64::MAX);
        facts.insert(chain::CHAIN_NANOSECONDS.into(), nanoseconds.into());
        facts
    }

    fn worker(&self) -> Result<impl Worker, String> {
        Ok(Thread(self))
    }
}

/// Threads share the modules.
struct Thread<'a>(&'a Wamr);

impl Worker for Thread<'_> {
    fn call(&mut self, kernel: &str, repeats: u32) -> Result<Done, String> {
        let Some(module) = self.0.kernels.get(kernel) else {
            return Err(modules::unknown(kernel));
        };
        let repeats = i32::try_from(repeats).map_err(|error| error.to_string())?;
        let making = Instant::now();
        let mut instance = Instance::new(module, LIMITS)?;
        let made = making.elapsed();
        let checksum = instance.call_f64(c"run", repeats)?;
        let dropping = Instant::now();
        drop(instance);
        let outside = made + dropping.elapsed();
        Ok(Done {
            checksum_bits: checksum.to_bits(),
            instance_nanoseconds: u64::try_from(outside.as_nanos()).unwrap_or(u64::MAX),
            process: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a double at the address that it takes for its repeats.
    const OUTSIDE: &str = r#"(module (memory (export "memory") 1)
      (data (i32.const 8) "\00\00\00\00\00\00\f8\3f")
      (func (export "run") (param i32) (result f64) (f64.load (local.get 0))))"#;

    fn engine(text: &str) -> Result<Wamr, String> {
        Wamr::new(&[("kernel".to_owned(), wat::parse_str(text).unwrap())].into())
    }

    fn call(engine: &Wamr, argument: u32) -> Result<f64, String> {
        let done = Thread(engine).call("kernel", argument);
        done.map(|done| f64::from_bits(done.checksum_bits))
    }

    #[test]
    fn a_kernel_reads_its_own_memory_and_an_access_outside_traps() {
        let engine = engine(OUTSIDE).unwrap();
        for _ in 0..2 {
            assert_eq!(call(&engine, 8), Ok(1.5));
            for address in [65_529, 1 << 30] {
                let error = call(&engine, address).unwrap_err();
                assert_eq!(error, "out of bounds memory access");
            }
        }
    }

    #[test]
    fn instances_of_one_module_run_on_several_threads() {
        let engine = engine(OUTSIDE).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        assert_eq!(call(&engine, 8), Ok(1.5));
                    }
                });
            }
        });
    }

    #[test]
    fn a_module_that_is_no_kernel_is_refused() {
        let imports = r#"(module (import "env" "sqrt" (func)))"#;
        assert!(engine(imports).err().unwrap().contains("env.sqrt"));
        let other = r#"(module (func (export "run") (param f64) (result f64) (local.get 0)))"#;
        let error = call(&engine(other).unwrap(), 1).unwrap_err();
        assert!(error.contains("no function run"), "{error}");
    }
}
