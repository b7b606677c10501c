//! How many times per second this machine can run the command of a response at all: no server, no
//! client, as many at once as in the gateway. A benchmark's baseline for the gateway, and for
//! runtimes compared with a program that does nothing.

use crate::front::Front;
use gateway_http::{ChildCommand, Invalid, Settings, Transform as _};
use std::io::{Read as _, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The only argument before options.
const COMMAND: &str = "spawn-rate";
/// The input of a child, as in the shortest workload.
const BODY: &[u8] = b"hello";

/// Measures if the arguments request it: `spawn-rate --seconds N`, and the gateway's options for
/// its runtime.
pub fn measured(mut arguments: impl Iterator<Item = String>) -> Option<ExitCode> {
    if arguments.next()? != COMMAND {
        return None;
    }
    Some(match rate(arguments) {
        Ok(rate) => {
            let _ = writeln!(std::io::stdout(), "{rate:.1}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "wasmbench: {COMMAND}: {message}");
            ExitCode::FAILURE
        }
    })
}

/// Children per second.
fn rate(arguments: impl Iterator<Item = String>) -> Result<f64, String> {
    let message = |invalid: Invalid| invalid.to_string();
    let mut settings = Settings::new(arguments, std::iter::empty()).map_err(message)?;
    let expected = "a number of seconds from 1 to 60";
    let time = settings.take_parsed("seconds", Duration::from_secs(3), expected, |value| {
        let count = value.parse().ok().filter(|count| (1..=60).contains(count));
        count.map(Duration::from_secs)
    });
    let time = time.map_err(message)?;
    let front = Front::take(&mut settings).map_err(message)?;
    settings.finish().map_err(message)?;
    let command = front.child().ok_or("there is no program to run")?;
    let began = Instant::now();
    let counts: Vec<Result<u32, String>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..command.at_once)
            .map(|_| scope.spawn(|| run_until(&command, began + time)))
            .collect();
        let panicked = |_| Err("a thread panicked".to_owned());
        let counts = threads.into_iter();
        counts
            .map(|thread| thread.join().unwrap_or_else(panicked))
            .collect()
    });
    let took = began.elapsed();
    let mut all = 0;
    for count in counts {
        all += count?;
    }
    Ok(f64::from(all) / took.as_secs_f64())
}

/// Runs children one after the other until `end`. Returns how many.
fn run_until(command: &ChildCommand, end: Instant) -> Result<u32, String> {
    let mut count = 0;
    while Instant::now() < end {
        run(command)?;
        count += 1;
    }
    Ok(count)
}

/// Runs a child as for a response: its input, its output, its end.
fn run(command: &ChildCommand) -> Result<(), String> {
    let mut child = Command::new(&command.program)
        .args(&command.arguments)
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("could not start {}: {error}", command.program.display()))?;
    if let Some(mut input) = child.stdin.take() {
        // A child that reads nothing closes the pipe.
        let _ = input.write_all(BODY);
    }
    let mut answer = Vec::new();
    if let Some(mut output) = child.stdout.take() {
        output
            .read_to_end(&mut answer)
            .map_err(|error| error.to_string())?;
    }
    match child.wait() {
        Ok(ended) if ended.success() => Ok(()),
        Ok(ended) => Err(format!("the program ended with {ended}")),
        Err(error) => Err(error.to_string()),
    }
}
