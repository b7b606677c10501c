//! A process that burns a known amount of CPU time and exits: what a sampling meter misses.

use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};

use gateway_http::{Failed, sha256_chain};

/// The only argument before the amount; not for users, so not in `--help`.
const BURN: &str = "burn-and-exit";

/// Starts a copy of this program that computes a chain of SHA-256, and waits until it ends.
pub fn burn(iterations: u32) -> Result<(), Failed> {
    let status = Command::new("/proc/self/exe")
        .args([BURN, &iterations.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Failed(format!("the child process ended with {status}"))),
        Err(error) => Err(Failed(format!("no child process: {error}"))),
    }
}

/// Burns and exits, if the arguments are those of such a child.
pub fn burnt(mut arguments: impl Iterator<Item = String>) -> Option<ExitCode> {
    if arguments.next()? != BURN {
        return None;
    }
    let Some(iterations) = arguments.next().and_then(|text| text.parse().ok()) else {
        return Some(ExitCode::FAILURE);
    };
    black_box(sha256_chain(iterations));
    Some(ExitCode::SUCCESS)
}
