//! fortio as a child process: its command line ([`args`]), its execution ([`child`]), its result
//! ([`result`]) and its request log ([`log`]).

pub mod args;
pub mod child;
pub mod log;
pub mod result;

use std::path::Path;
use std::process::{Command, Stdio};

/// fortio's version as it prints it, for a document without a load; empty if fortio does not run.
pub fn version(fortio: &Path) -> String {
    let output = Command::new(fortio)
        .arg("version")
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_default().chars().take(64).collect()
}
