//! How fast the runtime computes, as a multiple of the time that native code takes for the same
//! work. The runtime is started as for a response, once with much work and once with almost none:
//! the difference is the work. CPU time counts, on both sides: on a busy node, starting a process
//! takes half a second or a whole second of wall time, and native code that other processes keep
//! off the CPU would make an interpreter look compiled.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use nix::time::{ClockId, clock_gettime};
use std::ffi::{OsStr, OsString};
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The binary form of the module.
pub const MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/compute.wasm"));
/// The module's export: runs a number of xorshift steps.
pub const FUNCTION: &str = "chain";
/// About five milliseconds of native code: as much as the start of a process usually varies. An
/// interpreter takes a quarter of a second, and on a busy machine it has [`LIMIT`].
const STEPS: u32 = 2_000_000;
/// Rounds, of which the shortest counts: other processes may interrupt one.
const ROUNDS: usize = 3;
/// Rounds for a result as slow as an interpreter's: all earlier ones may have been interrupted.
const MOST_ROUNDS: usize = 5;
/// Compiled code takes at most this many times as long as native code.
const SLOWEST_COMPILED: f64 = 5.0;
/// No further round begins after this time: an interpreter takes long for each, and the caller
/// waits for five seconds in total.
const TIME: Duration = Duration::from_secs(1);
/// Time limit of one process, during which no other request is served.
const LIMIT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_micros(200);

/// Returns the CPU time in the runtime divided by that in native code. `arguments` returns the
/// arguments for a number of steps.
pub fn ratio(program: &Path, arguments: impl Fn(u32) -> Vec<OsString>) -> Result<f64, String> {
    let mut work = Duration::MAX;
    let mut start = Duration::MAX;
    let mut in_native_code = Duration::MAX;
    let mut ratio = f64::INFINITY;
    let began = Instant::now();
    for round in 1..=MOST_ROUNDS {
        work = work.min(timed(program, &arguments, STEPS)?);
        start = start.min(timed(program, &arguments, 1)?);
        in_native_code = in_native_code.min(natively(STEPS)?);
        // On a busy node the start may vary by more than the work takes. The difference is then 0,
        // which it never is for an interpreter.
        let in_runtime = work.saturating_sub(start).as_secs_f64();
        ratio = in_runtime / in_native_code.as_secs_f64().max(f64::MIN_POSITIVE);
        let is_compiled = round >= ROUNDS && ratio <= SLOWEST_COMPILED;
        if is_compiled || began.elapsed() > TIME {
            break;
        }
    }
    Ok(ratio)
}

fn timed(
    program: &Path,
    arguments: &impl Fn(u32) -> Vec<OsString>,
    steps: u32,
) -> Result<Duration, String> {
    // No other request is served meanwhile, so there are no other children.
    let before = of_children()?;
    let text = output(program, &arguments(steps))?;
    let took = of_children()?.saturating_sub(before);
    // Some runtimes print the number as signed.
    let answer: i64 = text
        .trim()
        .parse()
        .map_err(|_| format!("the runtime printed '{}'", text.trim()))?;
    if answer & i64::from(u32::MAX) == i64::from(native(steps)) {
        Ok(took)
    } else {
        Err("the runtime computes something else".to_owned())
    }
}

/// CPU time of this many steps of native code. Reads the thread's clock, because `getrusage` counts
/// the time of a running thread only as of the scheduler's last tick: three milliseconds of work
/// read as 0 or 4, and compiled code then looks as slow as an interpreter.
fn natively(steps: u32) -> Result<Duration, String> {
    let now = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_err(|error| error.to_string());
    let before = now()?;
    black_box(native(black_box(steps)));
    Ok(Duration::from(now()?).saturating_sub(before.into()))
}

/// CPU time of all children that were waited for.
fn of_children() -> Result<Duration, String> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|error| error.to_string())?;
    let time = usage.user_time() + usage.system_time();
    let microseconds = u64::try_from(time.num_microseconds()).unwrap_or_default();
    Ok(Duration::from_micros(microseconds))
}

/// Returns what the runtime prints when it is called with these arguments.
pub fn output(program: &Path, arguments: &[impl AsRef<OsStr>]) -> Result<String, String> {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let began = Instant::now();
    let ended = loop {
        match child.try_wait() {
            Ok(Some(ended)) => break ended,
            Ok(None) if began.elapsed() < LIMIT => std::thread::sleep(PAUSE),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err("the runtime did not end".to_owned());
            }
        }
    };
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        // A single line: the pipe holds all of it.
        stdout
            .read_to_string(&mut text)
            .map_err(|error| error.to_string())?;
    }
    if ended.success() {
        Ok(text)
    } else {
        Err(format!("the runtime ended with {ended}"))
    }
}

/// A step of xorshift per number, as in the module.
fn native(steps: u32) -> u32 {
    (0..steps).fold(2_463_534_242, |mut x: u32, _| {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        x
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quarter of a millisecond, which is shorter than a tick of any scheduler.
    #[test]
    fn native_code_is_timed_more_finely_than_the_scheduler_ticks() {
        let times: Vec<Duration> = (0..50).map(|_| natively(STEPS / 20).unwrap()).collect();
        assert!(times.iter().all(|time| !time.is_zero()), "{times:?}");
    }
}
