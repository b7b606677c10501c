//! `action-wasmi`: functions of the action protocol as Wasm modules, many in one process that
//! interprets them, each call in a fresh instance.

mod guest;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use action_host::engine::{
    COMPUTE, MAX_TABLE_ELEMENTS, MAX_TABLES, STEPS, check_command, check_module, facts_of, quickest,
};
use action_host::program;
use action_host::wasi::Guest;
use action_host::{Ended, Executor, Limits, Stopped};
use guest::State;
use wasmi::{Config, Engine, Error, Linker, Module, Store, StoreLimitsBuilder, TypedResumableCall};

/// Fuel after which the interpreter checks the clock: a few milliseconds of work.
const SLICE: u64 = 2_000_000;

struct Wasmi {
    engine: Engine,
    linker: Linker<State>,
}

fn main() -> ExitCode {
    program::main(Wasmi::new().map_err(|error| format!("no engine: {error}")))
}

impl Wasmi {
    fn new() -> Result<Self, Error> {
        let mut config = Config::default();
        config.consume_fuel(true);
        // The memory limit applies to each memory separately.
        config.wasm_multi_memory(false);
        let engine = Engine::new(&config);
        let mut linker = Linker::new(&engine);
        guest::add_to_linker(&mut linker)?;
        Ok(Self { engine, linker })
    }

    fn run(&self, module: &Module, store: &mut Store<State>) -> Result<(), Stopped> {
        store.set_fuel(SLICE)?;
        let instance = self.linker.instantiate_and_start(&mut *store, module)?;
        let memory = instance.get_memory(&*store, "memory");
        store.data_mut().memory = memory;
        let start = instance.get_typed_func::<(), ()>(&*store, "_start")?;
        let mut call = start.call_resumable(&mut *store, ())?;
        loop {
            match call {
                TypedResumableCall::Finished(()) => return Ok(()),
                TypedResumableCall::HostTrap(trap) => {
                    return Err(Stopped::Failed(trap.host_error().to_string()));
                }
                TypedResumableCall::OutOfFuel(pause) => {
                    if Instant::now() >= store.data().guest.deadline() {
                        return Err(Stopped::Late);
                    }
                    store.set_fuel(SLICE.max(pause.required_fuel()))?;
                    call = pause.resume(&mut *store)?;
                }
            }
        }
    }

    fn time_chain(&self) -> Result<(i32, Duration), Error> {
        let mut store = Store::new(&self.engine, ());
        store.set_fuel(u64::MAX)?;
        let module = Module::new(&self.engine, COMPUTE)?;
        let linker = Linker::new(&self.engine);
        let instance = linker.instantiate_and_start(&mut store, &module)?;
        let chain = instance.get_typed_func::<i32, i32>(&store, "chain")?;
        let began = Instant::now();
        let value = chain.call(&mut store, STEPS)?;
        Ok((value, began.elapsed()))
    }
}

impl Executor for Wasmi {
    type Code = Module;
    const PRESET: &'static str = "action-wasmi";
    const IS_SHARED: bool = true;

    fn facts(&self) -> Vec<(&'static str, String)> {
        facts_of("wasmi", env!("ENGINE_VERSION"), "Interpreter")
    }

    fn load(&self, code: &[u8]) -> Result<Module, String> {
        check_module(code)?;
        let module = Module::new(&self.engine, code);
        let module = module.map_err(|error| format!("the module cannot be loaded: {error}"))?;
        let imports = module.imports();
        check_command(
            |name| module.get_export(name).is_some(),
            imports.map(|import| (import.module(), import.name())),
        )?;
        Ok(module)
    }

    fn call(&self, code: &Module, input: Vec<u8>, limits: Limits) -> Ended {
        let state = State {
            guest: Guest::new(input, limits.time),
            limits: StoreLimitsBuilder::new()
                .memory_size(limits.memory_bytes)
                .table_elements(MAX_TABLE_ELEMENTS)
                .tables(MAX_TABLES)
                .build(),
            memory: None,
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limits);
        let ran = self.run(code, &mut store);
        Ended::new(store.into_data().guest, ran, limits)
    }

    fn chain(&self) -> Option<Duration> {
        quickest(|| self.time_chain().ok())
    }
}
