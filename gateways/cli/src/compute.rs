//! How fast the runtime computes, as a multiple of the time that the same work takes in native code. The
//! runtime is called as for an answer, for much work and for none: the difference is the work. It is CPU time that
//! counts, on both sides: on a busy node the start of a process takes a second by the clock, or half of one, and native
//! code that others keep off the CPU would make an interpreter look compiled.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use std::ffi::{OsStr, OsString};
use std::hint::black_box;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The binary form of the module.
pub const MODULE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/compute.wasm"));
/// What it exports: so many steps of xorshift.
pub const FUNCTION: &str = "chain";
/// About five milliseconds of native code: as much as the start of a process usually varies, and a quarter of a second
/// of an interpreter, which has [`LIMIT`] for it on a busy machine.
const STEPS: u32 = 2_000_000;
/// The shortest of so many rounds counts: one may be interrupted by others.
const ROUNDS: usize = 3;
/// So many where those are as slow as an interpreter: all of them may have been interrupted.
const MOST_ROUNDS: usize = 5;
/// Compiled code takes at most so many times as long as native code.
const SLOWEST_COMPILED: f64 = 5.0;
/// After this time no other round begins: an interpreter takes long in each, and who asks waits for five seconds in
/// all.
const TIME: Duration = Duration::from_secs(1);
/// Nobody else is served meanwhile.
const LIMIT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_micros(200);

/// CPU time in the runtime divided by time in native code. `arguments` are those for so many steps.
pub fn ratio(program: &Path, arguments: impl Fn(u32) -> Vec<OsString>) -> Result<f64, String> {
    let mut work = Duration::MAX;
    let mut start = Duration::MAX;
    let mut in_native_code = Duration::MAX;
    let mut ratio = f64::INFINITY;
    let asked = Instant::now();
    for round in 1..=MOST_ROUNDS {
        work = work.min(timed(program, &arguments, STEPS)?);
        start = start.min(timed(program, &arguments, 1)?);
        let before = cpu_time(UsageWho::RUSAGE_THREAD)?;
        black_box(native(black_box(STEPS)));
        let took = cpu_time(UsageWho::RUSAGE_THREAD)?.saturating_sub(before);
        in_native_code = in_native_code.min(took);
        // On a busy node the start may vary by more than the work takes: then it is 0, which no interpreter is.
        let in_runtime = work.saturating_sub(start).as_secs_f64();
        ratio = in_runtime / in_native_code.as_secs_f64().max(f64::MIN_POSITIVE);
        let is_compiled = round >= ROUNDS && ratio <= SLOWEST_COMPILED;
        if is_compiled || asked.elapsed() > TIME {
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
    // Nobody else is served meanwhile, so that there are no other children.
    let before = cpu_time(UsageWho::RUSAGE_CHILDREN)?;
    let said = output(program, &arguments(steps))?;
    let took = cpu_time(UsageWho::RUSAGE_CHILDREN)?.saturating_sub(before);
    // Some print the number as signed.
    let answer: i64 = said
        .trim()
        .parse()
        .map_err(|_| format!("the runtime said '{}'", said.trim()))?;
    if answer & i64::from(u32::MAX) == i64::from(native(steps)) {
        Ok(took)
    } else {
        Err("the runtime computes something else".to_owned())
    }
}

/// CPU time of this thread, or of all children that were waited for.
fn cpu_time(whose: UsageWho) -> Result<Duration, String> {
    let usage = getrusage(whose).map_err(|error| error.to_string())?;
    let time = usage.user_time() + usage.system_time();
    let microseconds = u64::try_from(time.num_microseconds()).unwrap_or_default();
    Ok(Duration::from_micros(microseconds))
}

/// What the runtime prints when it is called in this way.
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
    let mut said = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        // A line: it is in the pipe, whole.
        stdout
            .read_to_string(&mut said)
            .map_err(|error| error.to_string())?;
    }
    if ended.success() {
        Ok(said)
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
