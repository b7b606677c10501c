//! `action-wasmer`: functions of the action protocol as Wasm modules, many in one process, each
//! call in a fresh instance.

mod guest;
mod limits;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use action_host::compiled::Compiled;
use action_host::engine::{
    COMPUTE, Compile, MAX_TABLES, STEPS, check_command, check_module, facts_of, quickest,
};
use action_host::program;
use action_host::wasi::Guest;
use action_host::watchdog::Watchdog;
use action_host::{Ended, Executor, Limits, Stopped};
use guest::State;
use limits::Bounded;
use wasmer::sys::{Cranelift, EngineBuilder, Features, NativeEngineExt as _};
use wasmer::{Engine, FunctionEnv, Imports, Instance, Module, Store};

type Error = Box<dyn std::error::Error>;

struct Wasmer {
    compile: Compile,
    compiled: Compiled,
    watchdog: Watchdog,
}

/// A module and the engine into which it was loaded. Each has its own engine, because an engine
/// frees no code before it is dropped.
struct Code {
    module: Module,
    engine: Engine,
}

fn main() -> ExitCode {
    program::main(Compile::from_environment().and_then(|compile| {
        let watchdog = Watchdog::start();
        Ok(Wasmer {
            compile,
            compiled: Compiled::default(),
            watchdog: watchdog.map_err(|error| format!("no engine: {error}"))?,
        })
    }))
}

/// An engine that compiles.
fn compiler() -> Engine {
    let mut features = Features::default();
    // The memory limit applies to each memory separately.
    features.multi_memory(false);
    let compiler = EngineBuilder::new(Cranelift::default());
    compiler.set_features(Some(features)).engine().into()
}

impl Wasmer {
    fn code(&self, module: &[u8]) -> Result<Code, Error> {
        match self.compile {
            Compile::Jit => {
                let engine = compiler();
                let module = Module::new(&engine, module)?;
                Ok(Code { module, engine })
            }
            Compile::Aot => {
                let compiled = self.compiled.get_or_compile(module, |module| {
                    let module = Module::new(&compiler(), module)?;
                    Ok::<_, Error>(module.serialize()?.to_vec())
                })?;
                let engine = Engine::from(EngineBuilder::headless().engine());
                // SAFETY: this process compiled the bytes, and nobody else can write to them.
                let module = unsafe { Module::deserialize(&engine, compiled.as_slice()) }?;
                Ok(Code { module, engine })
            }
        }
    }

    fn run(
        &self,
        module: &Module,
        store: &mut Store,
        env: &FunctionEnv<State>,
    ) -> Result<(), Stopped> {
        let imports = guest::imports(store, env);
        let deadline = env.as_ref(store).guest.deadline();
        let instance = Instance::new(store, module, &imports)?;
        let memory = instance.exports.get_memory("memory")?.clone();
        env.as_mut(store).memory = Some(memory);
        let start = instance
            .exports
            .get_typed_function::<(), ()>(store, "_start")?;
        let interrupter = store.interrupter();
        let watched = self
            .watchdog
            .watch(deadline, move || interrupter.interrupt());
        let ran = start.call(store);
        if watched.end() && ran.is_err() {
            return Err(Stopped::Late);
        }
        // Its `Display` would add the calls that led there.
        ran.map_err(|error| Stopped::Failed(error.message()))
    }

    fn time_chain(&self) -> Result<(i32, Duration), Error> {
        // Loaded in the same way as a function's module.
        let Code { module, engine } = self.code(COMPUTE)?;
        let mut store = Store::new(engine);
        let instance = Instance::new(&mut store, &module, &Imports::new())?;
        let chain = instance
            .exports
            .get_typed_function::<i32, i32>(&store, "chain")?;
        let began = Instant::now();
        let value = chain.call(&mut store, STEPS)?;
        Ok((value, began.elapsed()))
    }
}

impl Executor for Wasmer {
    type Code = Code;
    const PRESET: &'static str = "action-wasmer";
    const IS_SHARED: bool = true;

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = facts_of("wasmer", wasmer_compiler::VERSION, self.compile.as_str());
        facts.push(("compiler", "cranelift".into()));
        facts
    }

    fn load(&self, code: &[u8]) -> Result<Code, String> {
        check_module(code)?;
        let code = self.code(code);
        let code = code.map_err(|error| format!("the module cannot be loaded: {error}"))?;
        let imports: Vec<_> = code.module.imports().collect();
        check_command(
            |name| code.module.exports().any(|export| export.name() == name),
            imports
                .iter()
                .map(|import| (import.module(), import.name())),
        )?;
        let info = code.module.info();
        // It would run before its time is watched.
        if info.start_function.is_some() {
            return Err("the module has a start section: build it as a WASI command".into());
        }
        if info.tables.len() > MAX_TABLES {
            return Err(format!("the module has more than {MAX_TABLES} tables"));
        }
        Ok(code)
    }

    fn call(&self, code: &Code, input: Vec<u8>, limits: Limits) -> Ended {
        let mut engine = code.engine.clone();
        engine.set_tunables(Bounded::new(limits));
        let mut store = Store::new(engine);
        let state = State {
            guest: Guest::new(input, limits.time),
            memory: None,
        };
        let env = FunctionEnv::new(&mut store, state);
        let ran = self.run(&code.module, &mut store, &env);
        let empty = Guest::new(vec![], limits.time);
        let guest = std::mem::replace(&mut env.as_mut(&mut store).guest, empty);
        Ended::new(guest, ran, limits)
    }

    fn chain(&self) -> Option<Duration> {
        quickest(|| self.time_chain().ok())
    }
}
