//! `action-wasmtime`: functions of the action protocol as Wasm modules, many in one process, each call in a fresh instance.

mod clock;
mod compiled;
mod guest;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use action_host::executor::{COMPUTE, STEPS, check_module, quickest};
use action_host::program::{self, setting};
use action_host::wasi::Guest;
use action_host::{Ended, Executor, Limits};
use clock::Clock;
use compiled::Compiled;
use guest::State;
use wasmtime::{
    Config, Engine, InstancePre, Linker, Module, ModuleExport, Result, Store, StoreLimitsBuilder,
    Trap,
};

/// How exactly a call is stopped.
const TICK: Duration = Duration::from_millis(10);
/// Largest table of an instance, in elements.
const MAX_TABLE_ELEMENTS: usize = 100_000;
/// Tables of an instance; a usual module has one.
const MAX_TABLES: usize = 4;

/// When modules are compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Compile {
    /// The first time that this process sees them.
    Aot,
    /// By each `/init`.
    Jit,
}

struct Wasmtime {
    engine: Engine,
    linker: Linker<State>,
    compile: Compile,
    compiled: Compiled,
    clock: Clock,
}

/// A module with its imports, and its memory.
struct Code {
    instance: InstancePre<State>,
    memory: ModuleExport,
}

fn main() -> ExitCode {
    program::main(compile().and_then(|compile| {
        Wasmtime::new(compile).map_err(|error| format!("no engine: {error:#}"))
    }))
}

fn compile() -> Result<Compile, String> {
    match setting("ENGINE_COMPILE", "Aot").as_str() {
        "Aot" => Ok(Compile::Aot),
        "Jit" => Ok(Compile::Jit),
        other => Err(format!(
            "WASMBENCH_ENGINE_COMPILE is {other}: set it to Aot or Jit"
        )),
    }
}

impl Wasmtime {
    fn new(compile: Compile) -> Result<Self> {
        let mut config = Config::new();
        config.epoch_interruption(true);
        // The limit of memory is one of each memory.
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
            Compile::Aot => self.compiled.module(&self.engine, code),
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
        // The way that the module of a function goes.
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
        let mode = match self.compile {
            Compile::Aot => "Aot",
            Compile::Jit => "Jit",
        };
        let profile = if cfg!(debug_assertions) {
            "debug"
        } else {
            "release"
        };
        vec![
            ("engine", "wasmtime".into()),
            ("version", env!("ENGINE_VERSION").into()),
            ("compiler", "cranelift".into()),
            ("compileMode", mode.into()),
            ("profile", profile.into()),
        ]
    }

    fn load(&self, code: &[u8]) -> Result<Code, String> {
        check_module(code)?;
        let told = |error: wasmtime::Error| format!("the module cannot be loaded: {error:#}");
        let module = self.module(code).map_err(told)?;
        let memory = module.get_export_index("memory");
        let memory = memory.ok_or("the module exports no memory: build it as a WASI command")?;
        let instance = self.linker.instantiate_pre(&module).map_err(told)?;
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
        let guest = store.into_data().guest;
        let failure = failure(&guest, ran, limits.time);
        Ended {
            output: guest.output,
            message: guest.message,
            failure,
        }
    }

    fn chain(&self) -> Option<Duration> {
        quickest(|| self.time_chain().ok())
    }
}

fn failure(guest: &Guest, ran: Result<()>, limit: Duration) -> Option<String> {
    match (guest.exit_code, ran) {
        (Some(0), _) | (None, Ok(())) => None,
        (Some(code), _) => Some(format!("the function ended with {code}")),
        (None, Err(error)) if error.downcast_ref() == Some(&Trap::Interrupt) => Some(format!(
            "the function was stopped after {} s",
            limit.as_secs()
        )),
        (None, Err(error)) => Some(format!("the function failed: {}", error.root_cause())),
    }
}
