//! The load generator as a child process: its task ([`task`]), its execution ([`child`]),
//! its result ([`result`]) and its log of requests ([`log`]). It is a program of its own,
//! `operator/generator`, in which fortio's runner times the requests.

pub mod child;
pub mod log;
pub mod result;
pub mod task;

use std::path::Path;
use std::process::{Command, Stdio};

/// The version of fortio's runner, for a document without a load; empty if the generator does not
/// run.
pub fn version(generator: &Path) -> String {
    let output = Command::new(generator)
        .arg("version")
        .env_clear()
        .stdin(Stdio::null())
        .output()
        .ok();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.unwrap_or_default().chars().take(64).collect()
}
