//! The same function with additional code.

use std::process::ExitCode;

include!(concat!(env!("OUT_DIR"), "/large.rs"));

fn main() -> ExitCode {
    wasm_guest_action::run(&BALLAST)
}
