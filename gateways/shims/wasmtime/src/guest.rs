//! Runs a guest to its end: a WASI 0.1 module by its exported function, a WASI 0.2 component by
//! `wasi:cli/run`, and a component that handles HTTP requests by serving it.

use anyhow::{Result, anyhow, bail};
use containerd_shim_wasm::sandbox::context::{RuntimeContext, WasmBinaryType};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use wasmtime::component::Component;
use wasmtime::error::Context as _;
use wasmtime::{Engine, Module, Precompiled, Store, format_err};
use wasmtime_wasi::p2::bindings::Command;
use wasmtime_wasi::{I32Exit, WasiCtxBuilder, p1, p2};

use crate::engine::{engine, engine_of_requests};
use crate::http;
use crate::store::{CompileMode, Data, Settings};

/// Exit code of a process ended by SIGTERM.
const TERMINATED: i32 = 128 + 15;
/// Exit code of a guest that trapped: that of a process that aborts, as in the wasmtime CLI.
const TRAPPED: i32 = 128 + 6;
/// Exit code of what cannot be executed, as in a shell.
const NOT_EXECUTABLE: i32 = 126;

/// What a binary holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Module,
    Component,
}

impl Kind {
    /// Determines the kind from the first bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match WasmBinaryType::from_bytes(bytes) {
            Some(WasmBinaryType::Module) => Ok(Self::Module),
            Some(WasmBinaryType::Component) => Ok(Self::Component),
            None => bail!(
                "the image holds neither a Wasm module nor a Wasm component: build the program for \
                 wasm32-wasip1 or wasm32-wasip2"
            ),
        }
    }
}

enum Guest {
    Module {
        module: Module,
        function: String,
    },
    Component(Component),
    /// A component that is called for each request.
    Handler(Component),
}

/// Runs the container's guest and returns its exit code. An error is the last line of the
/// container's log, where Kubernetes looks for it. SIGTERM ends the guest at once: as process 1 of
/// a container it would otherwise ignore the signal.
pub async fn run(context: &impl RuntimeContext) -> Result<i32> {
    let mut terminated = signal(SignalKind::terminate())?;
    let prepared = match prepare(context) {
        Ok(prepared) => prepared,
        Err(error) => {
            eprintln!("the guest cannot be run: {error:#}");
            return Ok(NOT_EXECUTABLE);
        }
    };
    let (done, outcome) = oneshot::channel();
    // A thread and an event loop of its own: ready sockets wake the guest without a detour through
    // another thread, and a computing guest does not delay the signal.
    std::thread::Builder::new()
        .name("guest".to_owned())
        .spawn(move || {
            let _ = done.send(run_to_end(prepared));
        })?;
    tokio::select! {
        outcome = outcome => {
            let outcome = outcome.map_err(|_| anyhow!("the guest's thread panicked"))?;
            Ok(outcome.unwrap_or_else(|error| {
                eprintln!("the guest ended: {error:#}");
                TRAPPED
            }))
        }
        _ = terminated.recv() => Ok(TERMINATED),
    }
}

struct Prepared {
    engine: Engine,
    guest: Guest,
    settings: Settings,
}

fn prepare(context: &impl RuntimeContext) -> Result<Prepared> {
    let mut engine = engine().map_err(readable)?;
    let mut guest = load(&engine, context)?;
    if let Guest::Component(component) = &guest
        && http::is_handler(&engine, component)
    {
        engine = engine_of_requests().map_err(readable)?;
        guest = Guest::Handler(for_requests(&engine, component)?);
    }
    let mode = if context.entrypoint().source.is_precompiled()? {
        CompileMode::Aot
    } else {
        CompileMode::Jit
    };
    let settings = Settings::new(context, mode);
    Ok(Prepared {
        engine,
        guest,
        settings,
    })
}

fn load(engine: &Engine, context: &impl RuntimeContext) -> Result<Guest> {
    let entrypoint = context.entrypoint();
    let bytes = entrypoint.source.as_bytes()?;
    let function = entrypoint.func;
    if !entrypoint.source.is_precompiled()? {
        return Ok(match Kind::from_bytes(&bytes)? {
            Kind::Module => Guest::Module {
                module: Module::new(engine, &bytes).map_err(readable)?,
                function,
            },
            Kind::Component => Guest::Component(Component::new(engine, &bytes).map_err(readable)?),
        });
    }
    // SAFETY: runwasi read these bytes from containerd's content store, where only a shim with the
    // same engine puts them; wasmtime checks its version and settings again.
    unsafe {
        match Engine::detect_precompiled(&bytes) {
            Some(Precompiled::Module) => {
                let module = Module::deserialize(engine, &bytes).map_err(readable)?;
                Ok(Guest::Module { module, function })
            }
            Some(Precompiled::Component) => Component::deserialize(engine, &bytes)
                .map(Guest::Component)
                .map_err(readable),
            None => {
                bail!("the precompiled layer is not wasmtime's: remove and pull the image again")
            }
        }
    }
}

/// Returns the same code for the engine that makes an instance per request: nothing is compiled
/// twice.
fn for_requests(engine: &Engine, component: &Component) -> Result<Component> {
    let code = component.serialize().map_err(readable)?;
    // SAFETY: a component in this process was serialized to these bytes.
    unsafe { Component::deserialize(engine, &code) }.map_err(readable)
}

/// Formats an error with its causes and, for a trap, the guest's stack.
fn readable(error: wasmtime::Error) -> anyhow::Error {
    anyhow!("{error:?}")
}

fn run_to_end(prepared: Prepared) -> Result<i32> {
    let Prepared {
        engine,
        guest,
        settings,
    } = prepared;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ended = match guest {
        Guest::Handler(component) => {
            runtime.block_on(http::serve(&engine, &component, settings))?;
            return Ok(0);
        }
        Guest::Module { module, function } => {
            let wasi = settings.of_command()?;
            runtime.block_on(run_module(&engine, &module, &function, wasi))
        }
        Guest::Component(component) => {
            let wasi = settings.of_command()?;
            runtime.block_on(run_component(&engine, &component, wasi))
        }
    };
    match ended {
        Ok(()) => Ok(0),
        // A guest that calls exit(0) unwinds as an error too.
        Err(error) => match error.downcast_ref::<I32Exit>() {
            Some(exit) => Ok(exit.0),
            None => Err(readable(error)),
        },
    }
}

async fn run_module(
    engine: &Engine,
    module: &Module,
    function: &str,
    mut wasi: WasiCtxBuilder,
) -> wasmtime::Result<()> {
    let mut linker = wasmtime::Linker::new(engine);
    p1::add_to_linker_async(&mut linker, |data: &mut p1::WasiP1Ctx| data)?;
    let mut store = Store::new(engine, wasi.build_p1());
    let instance = linker.instantiate_async(&mut store, module).await?;
    let function = instance
        .get_typed_func::<(), ()>(&mut store, function)
        .with_context(|| {
            format!(
                "the module exports no function '{function}' to start: build a program, not a \
                 library, or name its function after # in the image's entrypoint"
            )
        })?;
    function.call_async(&mut store, ()).await
}

async fn run_component(
    engine: &Engine,
    component: &Component,
    mut wasi: WasiCtxBuilder,
) -> wasmtime::Result<()> {
    let mut linker = wasmtime::component::Linker::new(engine);
    p2::add_to_linker_async(&mut linker)?;
    let mut store = Store::new(engine, Data::new(wasi.build()));
    let command = Command::instantiate_async(&mut store, component, &linker)
        .await
        .context(
            "the component is no command that this shim can run: build a program, not a library, for \
             WASI 0.2 (wasm32-wasip2)",
        )?;
    let ended = command.wasi_cli_run().call_run(&mut store).await?;
    ended.map_err(|()| format_err!("the component's run function reports a failure"))
}
