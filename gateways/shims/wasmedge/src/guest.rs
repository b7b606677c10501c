//! Runs a container's module to its end.

use anyhow::{Context as _, Result, anyhow};
use containerd_shim_wasm::sandbox::context::RuntimeContext;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use crate::engine::{Machine, end_process, version};
use crate::module::Mode;

/// Exit code of a process ended by SIGTERM.
const TERMINATED: i32 = 128 + 15;
/// Exit code of a guest that trapped: that of a process that aborts.
const TRAPPED: i32 = 128 + 6;
/// Exit code of what cannot be executed, as in a shell.
const NOT_EXECUTABLE: i32 = 126;
/// The container's root folder is the guest's.
const FOLDERS: [&str; 1] = ["/:/"];

/// Runs the container's guest and returns its exit code. An error is the last line of the
/// container's log, where Kubernetes looks for it. SIGTERM ends the guest at once: as process 1 of
/// a container it would otherwise ignore the signal.
pub async fn run(context: &impl RuntimeContext) -> Result<i32> {
    let mut terminated = signal(SignalKind::terminate())?;
    let machine = match prepare(context) {
        Ok(machine) => machine,
        Err(error) => {
            eprintln!("the guest cannot be run: {error:#}");
            return Ok(NOT_EXECUTABLE);
        }
    };
    let function = context.entrypoint().func;
    let (done, outcome) = oneshot::channel();
    // A thread of its own, so that a computing guest does not delay the signal.
    std::thread::Builder::new()
        .name("guest".to_owned())
        .spawn(move || {
            let _ = done.send(machine.run(&function));
        })?;
    tokio::select! {
        outcome = outcome => {
            let outcome = outcome.map_err(|_| anyhow!("the guest's thread panicked"))?;
            Ok(outcome.unwrap_or_else(|error| {
                eprintln!("the guest ended: {error:#}");
                TRAPPED
            }))
        }
        _ = terminated.recv() => end_process(TERMINATED),
    }
}

fn prepare(context: &impl RuntimeContext) -> Result<Machine> {
    let module = context.entrypoint().source.as_bytes()?;
    let mode = Mode::from_bytes(&module)?;
    let machine = Machine::new(mode)?;
    let version = version();
    let host_facts = [
        ("WASM_HOST_ENGINE", "wasmedge"),
        ("WASM_HOST_VERSION", version.as_str()),
        ("WASM_HOST_COMPILE_MODE", mode.word()),
    ];
    let host_facts = host_facts.map(|(name, value)| format!("{name}={value}"));
    let environment: Vec<String> = host_facts.iter().chain(context.envs()).cloned().collect();
    machine.set_up(context.args(), &environment, &FOLDERS.map(str::to_owned))?;
    machine
        .load(&module)
        .context("WasmEdge does not take the module")?;
    Ok(machine)
}
