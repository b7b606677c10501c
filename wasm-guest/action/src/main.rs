//! The function in its usual size.

use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/usual.rs"));

fn main() -> ExitCode {
    wasm_guest_action::run(&BALLAST)
}
