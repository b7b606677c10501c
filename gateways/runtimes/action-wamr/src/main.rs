//! `action-wamr`: functions of the action protocol as Wasm modules, many in one process that
//! interprets them with WAMR, each call in a fresh instance.

mod guest;
mod sections;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use action_host::engine::{COMPUTE, STEPS, check_command, check_module, facts_of, quickest};
use action_host::program;
use action_host::wasi::Guest;
use action_host::watchdog::Watchdog;
use action_host::{Ended, Executor, Limits, Stopped};
use wamr::{Instance, Module, PAGE_BYTES, version};

/// The interpreter's stack, as much as other engines give to a function.
const STACK_BYTES: u32 = 512 * 1024;
/// Exports that the runtime calls when it makes an instance, before its time is watched.
const CALLED_EARLY: [&str; 2] = ["__post_instantiate", "__wasm_call_ctors"];

/// A module, and the pages with which its memory begins.
struct Code {
    module: Module,
    pages: u32,
}

struct Wamr {
    watchdog: Watchdog,
    /// Work that shows how fast it computes.
    chain: Module,
}

fn main() -> ExitCode {
    program::main(Wamr::new().map_err(|error| format!("no engine: {error}")))
}

fn pages(limits: Limits) -> u32 {
    u32::try_from(limits.memory_bytes / PAGE_BYTES).unwrap_or(u32::MAX)
}

impl Wamr {
    fn new() -> Result<Self, String> {
        guest::register()?;
        let watchdog = Watchdog::start().map_err(|error| error.to_string())?;
        let chain = Module::load(COMPUTE)?;
        Ok(Self { watchdog, chain })
    }

    fn run(&self, code: &Code, guest: &mut Guest, limits: Limits) -> Result<(), Stopped> {
        let limits = wamr::Limits {
            stack_bytes: STACK_BYTES,
            memory_pages: pages(limits),
        };
        // The runtime would make it larger than the limit.
        if code.pages > limits.memory_pages {
            return Err(Stopped::Failed(
                "its memory begins with too many pages".into(),
            ));
        }
        let mut instance = Instance::new(&code.module, limits).map_err(Stopped::Failed)?;
        let interrupter = instance.interrupter();
        let watched = self
            .watchdog
            .watch(guest.deadline(), move || interrupter.interrupt());
        let ran = instance.call(c"_start", guest);
        if watched.end() && ran.is_err() {
            return Err(Stopped::Late);
        }
        ran.map_err(Stopped::Failed)
    }

    fn time_chain(&self) -> Result<(i32, Duration), String> {
        let limits = wamr::Limits {
            stack_bytes: STACK_BYTES,
            memory_pages: 0,
        };
        let mut instance = Instance::new(&self.chain, limits)?;
        let began = Instant::now();
        let value = instance.call_i32(c"chain", STEPS)?;
        Ok((value, began.elapsed()))
    }
}

/// A loaded module that is a command, imports nothing that is not provided, and stays within its
/// limits.
fn load(code: &[u8]) -> Result<Module, String> {
    check_module(code)?;
    let module = Module::load(code);
    let module = module.map_err(|why| format!("the module cannot be loaded: {why}"))?;
    let (imports, exports) = (module.imports(), module.exports());
    let has = |name: &str| exports.iter().any(|export| export == name);
    check_command(
        has,
        imports
            .iter()
            .map(|(module, name, _)| (module.as_str(), name.as_str())),
    )?;
    if let Some((module, name, _)) = imports.iter().find(|(_, _, is_provided)| !is_provided) {
        return Err(format!(
            "the module cannot be loaded: it imports {module}.{name} with another type"
        ));
    }
    if let Some(early) = CALLED_EARLY.into_iter().find(|&name| has(name)) {
        return Err(format!(
            "the module exports {early}: build it as a WASI command"
        ));
    }
    Ok(module)
}

impl Executor for Wamr {
    type Code = Code;
    const PRESET: &'static str = "action-wamr";
    const IS_SHARED: bool = true;

    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = facts_of("wamr", &version(), "Interpreter");
        facts.push(("interpreter", "fast".into()));
        facts
    }

    fn load(&self, code: &[u8]) -> Result<Code, String> {
        Ok(Code {
            module: load(code)?,
            pages: sections::check(code)?,
        })
    }

    fn call(&self, code: &Code, input: Vec<u8>, limits: Limits) -> Ended {
        let mut guest = Guest::new(input, limits.time);
        let ran = self.run(code, &mut guest, limits);
        Ended::new(guest, ran, limits)
    }

    fn chain(&self) -> Option<Duration> {
        quickest(|| self.time_chain().ok())
    }
}
