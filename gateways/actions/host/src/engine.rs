//! What the engines of Wasm modules have in common.

use std::time::Duration;

use gateway_wasi::{Guest, MODULE, PROVIDED};

use crate::executor::{Ended, Limits};
use crate::settings::setting;

/// A module that exports `chain`: work that shows how fast an engine computes.
pub const COMPUTE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/compute.wasm"));
/// Steps of the chain, as many as the probe does in native code.
pub const STEPS: i32 = 200_000;
/// The result of that many steps; an engine that computes anything else is not measured.
pub const CHAIN: i32 = 1_045_134_780;
/// Rounds, of which the shortest counts: other processes may interrupt one.
const ROUNDS: usize = 5;

/// Largest table of an instance, in elements.
pub const MAX_TABLE_ELEMENTS: usize = 100_000;
/// Tables of an instance; a usual module has one.
pub const MAX_TABLES: usize = 4;

/// The magic number and version that every Wasm module starts with.
const WASM: &[u8] = b"\0asm\x01\0\0\0";

/// When an engine compiles modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compile {
    /// The first time this process sees them.
    Aot,
    /// On each `/init`.
    Jit,
}

impl Compile {
    /// Reads `WASMBENCH_ENGINE_COMPILE`.
    pub fn from_environment() -> Result<Self, String> {
        match setting("ENGINE_COMPILE", "Aot").as_str() {
            "Aot" => Ok(Self::Aot),
            "Jit" => Ok(Self::Jit),
            other => Err(format!(
                "WASMBENCH_ENGINE_COMPILE is {other}: set it to Aot or Jit"
            )),
        }
    }

    /// The name of the mode.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Aot => "Aot",
            Self::Jit => "Jit",
        }
    }
}

/// What an engine reports about itself.
pub fn facts_of(engine: &str, version: &str, mode: &str) -> Vec<(&'static str, String)> {
    vec![
        ("engine", engine.into()),
        ("version", version.into()),
        ("compileMode", mode.into()),
    ]
}

/// Why a guest did not run to completion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It exceeded the time limit.
    Late,
    /// It failed, for this reason.
    Failed(String),
}

impl<E: std::error::Error> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

impl Ended {
    /// The outcome of a guest that ran in an engine. A guest that exits leaves the engine as if it
    /// had trapped.
    pub fn new(guest: Guest, ran: Result<(), Stopped>, limits: Limits) -> Self {
        let failure = match (guest.streams.exit_code, ran) {
            (Some(0), _) | (None, Ok(())) => None,
            (Some(code), _) => Some(format!("the function ended with {code}")),
            (None, Err(Stopped::Late)) => Some(format!(
                "the function was stopped after {} s",
                limits.time.as_secs()
            )),
            (None, Err(Stopped::Failed(why))) => Some(format!("the function failed: {why}")),
        };
        Self {
            output: guest.streams.output,
            message: guest.streams.message,
            failure,
        }
    }
}

/// Rejects anything but a module in its published form: no engine runs code that somebody else
/// compiled.
pub fn check_module(code: &[u8]) -> Result<(), String> {
    if code.starts_with(WASM) {
        return Ok(());
    }
    Err("the code is no WebAssembly module: send a .wasm file for WASI preview 1, and neither a component nor compiled code".into())
}

/// Rejects a module that is not a WASI command or that imports (by module and name) something that
/// is not provided.
pub fn check_command<'a>(
    exports: impl Fn(&str) -> bool,
    mut imports: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), String> {
    for export in ["memory", "_start"] {
        if !exports(export) {
            return Err(format!(
                "the module exports no {export}: build it as a WASI command"
            ));
        }
    }
    match imports.find(|(module, name)| *module != MODULE || !PROVIDED.contains(name)) {
        Some((module, name)) => Err(format!(
            "the module cannot be loaded: it imports {module}.{name}, which is not provided"
        )),
        None => Ok(()),
    }
}

/// Returns the shortest of several calls of `chain`, which returns its result and how long it took.
/// `None` if a call fails or its result is wrong.
pub fn quickest(mut chain: impl FnMut() -> Option<(i32, Duration)>) -> Option<Duration> {
    let mut best: Option<Duration> = None;
    for _ in 0..ROUNDS {
        let (value, took) = chain()?;
        if value != CHAIN {
            return None;
        }
        best = Some(best.map_or(took, |best| best.min(took)));
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chain_matches_that_of_native_code() {
        let step = |mut x: u32, _| {
            x ^= x << 13;
            x ^= x >> 17;
            x ^= x << 5;
            x
        };
        let native = (0..STEPS).fold(2_463_534_242_u32, step);
        assert_eq!(native.cast_signed(), CHAIN);
    }

    #[test]
    fn an_engine_with_a_wrong_result_reports_no_time() {
        let took = Duration::from_micros(3);
        assert_eq!(quickest(|| Some((CHAIN, took))), Some(took));
        assert_eq!(quickest(|| Some((1, took))), None);
    }

    #[test]
    fn a_guest_succeeds_if_it_returns_or_exits_with_0() {
        let limits = Limits {
            time: Duration::from_secs(2),
            memory_bytes: 1,
        };
        let ended = |exit_code, ran| {
            let mut guest = Guest::new(vec![], limits.time);
            guest.streams.exit_code = exit_code;
            Ended::new(guest, ran, limits).failure.unwrap_or_default()
        };
        let trap = || Err(Stopped::Failed("unreachable".into()));
        assert_eq!(ended(None, Ok(())), "");
        assert_eq!(ended(Some(0), trap()), "");
        assert!(ended(Some(3), trap()).ends_with("ended with 3"));
        assert!(ended(None, trap()).ends_with("failed: unreachable"));
        assert!(ended(None, Err(Stopped::Late)).ends_with("stopped after 2 s"));
    }

    #[test]
    fn a_command_exports_memory_and_start_and_imports_only_what_exists() {
        let command = |_: &str| true;
        assert_eq!(
            check_command(command, [(MODULE, "fd_write")].into_iter()),
            Ok(())
        );
        let refused = |import| check_command(command, [import].into_iter()).unwrap_err();
        assert!(refused((MODULE, "sock_open")).contains("sock_open"));
        assert!(refused(("env", "fd_write")).contains("env.fd_write"));
        let no_start = check_command(|name| name == "memory", std::iter::empty());
        assert!(no_start.unwrap_err().contains("no _start"));
    }

    #[test]
    fn only_modules_are_accepted_and_no_components_or_compiled_code() {
        assert_eq!(check_module(b"\0asm\x01\0\0\0rest"), Ok(()));
        for code in [&b"\0asm\x0d\0\x01\0"[..], b"\x7fELF", b"", b"\0as"] {
            assert!(check_module(code).unwrap_err().contains(".wasm"));
        }
    }
}
