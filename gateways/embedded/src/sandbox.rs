//! One response: a store, an instance, `_start`, and the output.

use crate::compute;
use crate::engine::Mode;
use crate::wasi::{self, Host};
use gateway_http::{Failed, Transform};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::time::Duration;
use wasmtime::{Engine, InstancePre, Linker, ModuleExport, Store, Trap};

/// Time limit of one instance, in ticks: between 0.9 and 1 s, during which nothing else is served.
const LIMIT_TICKS: u64 = 10;
const TICK: Duration = Duration::from_millis(100);

/// Why a module cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The engine rejects the configuration or the module.
    #[error("could not prepare the Wasm module: {0:#}")]
    Engine(#[from] wasmtime::Error),
    /// It is not a WASI command.
    #[error("the Wasm module does not export {0}")]
    Export(&'static str),
    /// The thread that measures the time limit did not start.
    #[error("could not start the clock of the time limit")]
    Clock(#[source] std::io::Error),
}

/// A module, ready to be instantiated for each response.
pub struct Sandbox {
    mode: Mode,
    engine: Engine,
    module: InstancePre<Host>,
    start: ModuleExport,
    /// Kept between instances only for the memory of its vectors.
    host: Host,
    /// Those members of the JSON object of `/engine` that never change.
    description: String,
}

impl Sandbox {
    /// Compiles or loads what [`Mode::prepare`] returned.
    pub fn new(mode: Mode, prepared: &[u8]) -> Result<Self, SandboxError> {
        let engine = mode.engine()?;
        let module = mode.load(&engine, prepared)?;
        let export = |name| {
            module
                .get_export_index(name)
                .ok_or(SandboxError::Export(name))
        };
        let start = export("_start")?;
        let host = Host::new(export("memory")?);
        let mut linker = Linker::new(&engine);
        wasi::add_to_linker(&mut linker)?;
        let module = linker.instantiate_pre(&module)?;
        start_clock(&engine).map_err(SandboxError::Clock)?;
        let description = describe(mode, prepared);
        Ok(Self {
            mode,
            engine,
            module,
            start,
            host,
            description,
        })
    }

    /// Runs one instance on the host's input.
    fn run(&self, store: &mut Store<Host>) -> wasmtime::Result<()> {
        store.limiter(|host| host);
        store.set_epoch_deadline(LIMIT_TICKS);
        let instance = self.module.instantiate(&mut *store)?;
        let start = instance
            .get_module_export(&mut *store, &self.start)
            .and_then(wasmtime::Extern::into_func)
            .ok_or_else(|| wasmtime::Error::msg("_start is not a function"))?;
        start.typed::<(), ()>(&*store)?.call(&mut *store, ())
    }
}

impl Transform for Sandbox {
    fn apply(&mut self, body: &mut Vec<u8>) -> Result<(), Failed> {
        let mut host = std::mem::take(&mut self.host);
        host.streams.begin(body);
        let mut store = Store::new(&self.engine, host);
        let result = self.run(&mut store);
        // The store, and with it the instance, ends here.
        self.host = store.into_data();
        let streams = &mut self.host.streams;
        match (streams.exit_code, result) {
            (Some(0), _) | (None, Ok(())) => {
                std::mem::swap(body, &mut streams.output);
                Ok(())
            }
            (Some(code), _) => Err(self.failed(&format!("it ended with exit code {code}"))),
            (None, Err(error)) => Err(self.failed(&reason(&error))),
        }
    }

    fn describe(&self) -> String {
        let compute = match compute::ratio(self.mode, &self.engine) {
            Ok(ratio) => format!(r#""computeRatio":{ratio:.2}"#),
            Err(_) => r#""computeRatio":null"#.to_owned(),
        };
        format!("{{{},{compute}}}", self.description)
    }
}

impl Sandbox {
    fn failed(&self, reason: &str) -> Failed {
        let message = String::from_utf8_lossy(&self.host.streams.message);
        let mut text = format!("the Wasm module failed: {reason}");
        if !message.trim().is_empty() {
            // Writing to memory does not fail.
            let _ = write!(text, "; its message: {}", message.trim());
        }
        Failed(text)
    }
}

fn reason(error: &wasmtime::Error) -> String {
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => "it took longer than a second".to_owned(),
        Some(trap) => trap.to_string(),
        None => error.root_cause().to_string(),
    }
}

fn describe(mode: Mode, bytes: &[u8]) -> String {
    let mut digest = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(digest, "{byte:02x}");
    }
    format!(
        r#"{},"moduleSha256":"{digest}","moduleBytes":{}"#,
        mode.members(),
        bytes.len()
    )
}

/// Advances the engine's epoch until the engine is gone.
///
/// The other way to stop a guest, fuel, needs no thread, but makes compiling the module take 55 %
/// longer (epochs: 25 %), which lengthens cold starts. Ten wake-ups per second are too few to show
/// in a measurement.
fn start_clock(engine: &Engine) -> std::io::Result<()> {
    let engine = engine.weak();
    let tick = move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(TICK);
        }
    };
    std::thread::Builder::new()
        .name("epochs".to_owned())
        .spawn(tick)
        .map(drop)
}
