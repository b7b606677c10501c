//! How fast the engine computes, as a multiple of the time that native code takes for the same
//! work. Compiled Wasm takes about as long as native code, and an interpreter many times as long,
//! whatever the engine reports about itself. CPU time counts, on both sides: work that other
//! processes keep off the CPU would look slow. Nothing is measured until it is requested.

use crate::engine::Mode;
use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;
use std::time::Duration;
use wasmtime::{Engine, Error, Instance, Result, Store};

/// The binary form of `compute.wat`, made by `build.rs`.
const MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/compute.wasm"));
/// About half a millisecond of native code.
const STEPS: u32 = 200_000;
/// Rounds, of which the shortest counts: other processes may interrupt one.
const ROUNDS: usize = 5;
/// Epochs after which the work is stopped; it ends long before that.
const LIMIT_TICKS: u64 = 10;

/// Returns the CPU time in the engine divided by that in native code.
pub fn ratio(mode: Mode, engine: &Engine) -> Result<f64> {
    let mut store = Store::new(engine, ());
    // Loaded in the same way as the module of the responses.
    let module = mode.load(engine, &mode.prepare(MODULE)?)?;
    let instance = Instance::new(&mut store, &module, &[])?;
    let chain = instance.get_typed_func::<u32, u32>(&mut store, "chain")?;
    let mut in_engine = Duration::MAX;
    let mut in_native_code = Duration::MAX;
    for _ in 0..ROUNDS {
        store.set_epoch_deadline(LIMIT_TICKS);
        let before = cpu_time();
        let answer = chain.call(&mut store, STEPS)?;
        in_engine = in_engine.min(cpu_time().saturating_sub(before));
        let before = cpu_time();
        let expected = native(black_box(STEPS));
        in_native_code = in_native_code.min(cpu_time().saturating_sub(before));
        if answer != expected {
            return Err(Error::msg("the engine computes something else"));
        }
    }
    Ok(in_engine.as_secs_f64() / in_native_code.as_secs_f64().max(f64::MIN_POSITIVE))
}

/// CPU time that this thread has used so far.
fn cpu_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

fn native(steps: u32) -> u32 {
    (0..steps).fold(2_463_534_242, |mut x: u32, _| {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    })
}
