//! An action, as a function of OpenWhisk is called there. Comes in: one JSON object of parameters on standard input, whose
//! values are strings. Goes out: one JSON object, the last line of standard output.
//!
//! The source is one for a native program and for a WASI command, so that what differs is how it is executed. Reading
//! order: `work` (what it can be asked for), `ballast` (how its code gets a real size).

mod ballast;
mod work;

pub use ballast::{Piece, piece};
pub use work::{Host, answer};

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

/// The operating system, or what WASI has of one.
struct System;

impl Host for System {
    fn sleep(&mut self, milliseconds: u32) {
        std::thread::sleep(Duration::from_millis(milliseconds.into()));
    }

    fn random(&mut self) -> u64 {
        RandomState::new().build_hasher().finish()
    }
}

/// Answers what comes in on standard input, with this ballast beside the work.
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
