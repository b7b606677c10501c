//! An action, which is what OpenWhisk calls a function. Input: one JSON object of parameters on
//! standard input, whose values are strings. Output: one JSON object, the last line of standard
//! output.
//!
//! A native program and a WASI command share this source, so that they differ only in how they are
//! executed. Reading order: `work` (what the action can do), `ballast` (how its code gets a
//! realistic size).

mod ballast;
mod work;

pub use ballast::{Piece, piece};
pub use work::{Host, answer};

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

/// The operating system, or what WASI provides of one.
struct System;

impl Host for System {
    fn sleep(&mut self, milliseconds: u32) {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
    }

    fn random(&mut self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}

/// Handles the parameters on standard input, with this ballast in addition to the work.
pub fn run(ballast: &[Piece]) -> ExitCode {
    let mut parameters = Vec::new();
    let read = std::io::stdin().lock().read_to_end(&mut parameters);
    let mut text = answer(&parameters, ballast, &mut System);
    text.push('\n');
    let mut output = std::io::stdout().lock();
    let written = output
        .write_all(text.as_bytes())
        .and_then(|()| output.flush());
    if read.is_ok() && written.is_ok() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
