//! fortio as a child process: its command line ([`args`]), its course ([`child`]), its result
//! ([`result`]) and its log of requests ([`log`]).

pub mod args;
pub mod child;
pub mod log;
pub mod result;

use std::path::Path;
use std::process::{Command, Stdio};

/// Version of fortio as it prints it, for a document without a load; empty when it does not run.
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
