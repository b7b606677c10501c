//! `action-wasmtime`: functions of the action protocol as Wasm modules, many in one process, each
//! call in a fresh instance.

mod clock;
mod guest;
mod module;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use action_host::compiled::Compiled;
use action_host::engine::{
    COMPUTE, Compile, MAX_TABLE_ELEMENTS, MAX_TABLES, STEPS, check_module, facts_of, quickest,
};
use action_host::program;
use action_host::wasi::Guest;
use action_host::{Ended, Executor, Limits, Stopped};
use clock::Clock;
use guest::State;
use wasmtime::{
    Config, Engine, InstancePre, Linker, Module, ModuleExport, Result, Store, StoreLimitsBuilder,
    Trap,
};

/// The precision with which a call is stopped.
const TICK: Duration = Duration::from_millis(10);

struct Wasmtime {
    engine: Engine,
    linker: Linker<State>,
    compile: Compile,
    compiled: Compiled,
    clock: Clock,
}

/// A module with its imports resolved, and its memory.
struct Code {
    instance: InstancePre<State>,
    memory: ModuleExport,
}

fn main() -> ExitCode {
    program::main(Compile::from_environment().and_then(|compile| {
        Wasmtime::new(compile).map_err(|error| format!("no engine: {error:#}"))
    }))
}

impl Wasmtime {
    fn new(compile: Compile) -> Result<Self> {
        let mut config = Config::new();
        config.epoch_interruption(true);
        // The memory limit applies to each memory separately.
        config.wasm_multi_memory(false);
        let engine = Engine::new(&config)?;
        let mut linker = Linker::new(&engine);
        guest::add_to_linker(&mut linker)?;
        let ticking = engine.clone();
        let clock = Clock::start(TICK, move || ticking.increment_epoch())?;
        Ok(Self {
            engine,
            linker,
            compile,
            compiled: Compiled::default(),
            clock,
        })
    }

    fn module(&self, code: &[u8]) -> Result<Module> {
        match self.compile {
            Compile::Aot => module::kept(&self.engine, &self.compiled, code),
            Compile::Jit => Module::new(&self.engine, code),
        }
    }

    fn run(code: &Code, store: &mut Store<State>) -> Result<()> {
        let instance = code.instance.instantiate(&mut *store)?;
        let start = instance.get_typed_func::<(), ()>(&mut *store, "_start")?;
        start.call(store, ())
    }

    fn time_chain(&self) -> Result<(i32, Duration)> {
        let mut store = Store::new(&self.engine, ());
        store.set_epoch_deadline(u64::MAX / 2);
        // Loaded in the same way as a function's module.
        let module = self.module(COMPUTE)?;
        let instance = wasmtime::Instance::new(&mut store, &module, &[])?;
        let chain = instance.get_typed_func::<i32, i32>(&mut store, "chain")?;
        let began = Instant::now();
        let value = chain.call(&mut store, STEPS)?;
        Ok((value, began.elapsed()))
    }
}

impl Executor for Wasmtime {
    type Code = Code;
    const PRESET: &'static str = "action-wasmtime";
    const IS_SHARED: bool = true;

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = facts_of("wasmtime", env!("ENGINE_VERSION"), self.compile.as_str());
        facts.push(("compiler", "cranelift".into()));
        facts
    }

    fn load(&self, code: &[u8]) -> Result<Code, String> {
        check_module(code)?;
        let not_loaded = |error: wasmtime::Error| format!("the module cannot be loaded: {error:#}");
        let module = self.module(code).map_err(not_loaded)?;
        let memory = module.get_export_index("memory");
        let memory = memory.ok_or("the module exports no memory: build it as a WASI command")?;
        let instance = self.linker.instantiate_pre(&module).map_err(not_loaded)?;
        if module
            .get_export("_start")
            .and_then(|start| start.func().cloned())
            .is_none()
        {
            return Err("the module exports no _start: build it as a WASI command".into());
        }
        Ok(Code { instance, memory })
    }

    fn call(&self, code: &Code, input: Vec<u8>, limits: Limits) -> Ended {
        let state = State {
            guest: Guest::new(input, limits.time),
            limits: StoreLimitsBuilder::new()
                .memory_size(limits.memory_bytes)
                .table_elements(MAX_TABLE_ELEMENTS)
                .tables(MAX_TABLES)
                .build(),
            memory: code.memory,
        };
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.limits);
        let _running = self.clock.call();
        let ticks = limits.time.as_millis() / TICK.as_millis();
        store.set_epoch_deadline(u64::try_from(ticks).unwrap_or(u64::MAX / 2) + 1);
        let ran = Self::run(code, &mut store);
        Ended::new(
            store.into_data().guest,
            ran.map_err(|error| stopped(&error)),
            limits,
        )
    }

    fn chain(&self) -> Option<Duration> {
        quickest(|| self.time_chain().ok())
    }
}

fn stopped(error: &wasmtime::Error) -> Stopped {
    match error.downcast_ref() {
        Some(Trap::Interrupt) => Stopped::Late,
        Some(_) | None => Stopped::Failed(error.root_cause().to_string()),
    }
}
