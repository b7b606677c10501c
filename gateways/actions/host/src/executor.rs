//! What an engine does for the host.

use std::time::Duration;

/// A module that exports `chain`: work that shows how fast an engine computes.
pub const COMPUTE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/compute.wasm"));
/// Steps of the chain, as many as the probe does in native code.
pub const STEPS: i32 = 200_000;
/// What the chain gives for so many steps: an engine that computes something else is none.
pub const CHAIN: i32 = 1_045_134_780;
/// The shortest of so many rounds counts: one may be interrupted by others.
const ROUNDS: usize = 5;

/// How every Wasm module begins, and its version.
const WASM: &[u8] = b"\0asm\x01\0\0\0";

/// What one call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until it is stopped.
    pub time: Duration,
    /// Memory of its instance.
    pub memory_bytes: usize,
}

/// The end of a call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Standard output.
    pub output: Vec<u8>,
    /// The beginning of standard error.
    pub message: Vec<u8>,
    /// Why it did not end by itself and well.
    pub failure: Option<String>,
}

/// An engine. All its functions run in this process, side by side.
pub trait Executor: Send + Sync + Sized + 'static {
    /// A function's code, ready to be called.
    type Code: Send + Sync + 'static;

    /// Name of the preset.
    const PRESET: &'static str;
    /// Whether it hosts many functions, each under a name.
    const IS_SHARED: bool;

    /// What `/engine` tells of it, by member.
    fn facts(&self) -> Vec<(&'static str, String)>;

    /// Makes code ready. An error says what is wrong with it, and what would be right.
    fn load(&self, code: &[u8]) -> Result<Self::Code, String>;

    /// Calls a function with its parameters as JSON.
    fn call(&self, code: &Self::Code, input: Vec<u8>, limits: Limits) -> Ended;

    /// Calls `chain` of [`COMPUTE`]; `None` where no engine is between.
    fn chain(&self) -> Option<Duration>;
}

/// Refuses what is not a module as it was published: code that somebody else compiled is run by no engine.
pub fn check_module(code: &[u8]) -> Result<(), String> {
    if code.starts_with(WASM) {
        return Ok(());
    }
    Err("the code is no WebAssembly module: send a .wasm file for WASI preview 1, and neither a component nor compiled code".into())
}

/// The shortest of several calls of `chain`, which gives what it computed and how long that took.
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
    fn the_chain_is_that_of_native_code() {
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
    fn an_engine_that_computes_something_else_tells_no_time() {
        let took = Duration::from_micros(3);
        assert_eq!(quickest(|| Some((CHAIN, took))), Some(took));
        assert_eq!(quickest(|| Some((1, took))), None);
    }

    #[test]
    fn only_modules_are_taken_and_no_component_or_compiled_code() {
        assert_eq!(check_module(b"\0asm\x01\0\0\0rest"), Ok(()));
        for code in [&b"\0asm\x0d\0\x01\0"[..], b"\x7fELF", b"", b"\0as"] {
            assert!(check_module(code).unwrap_err().contains(".wasm"));
        }
    }
}
