//! The tables of ballast, and the linker's arguments for Wasm: a stack of a known size, placed
//! first in memory.

use std::env::var;
use std::fmt::Write as _;
use std::fs::write;
use std::path::Path;

/// Enough for the hash, the JSON and a panic's message. The linker's default is 1 MiB, all of which
/// each instance would have.
const STACK_BYTES: u32 = 64 * 1024;
/// Pieces of ballast in the usual and in the large build, found by trial: the modules of the study
/// have 1.51 and 4.76 MiB. A build for tests has only a few, because each takes time to compile.
const RELEASE: (u32, u32) = (1594, 5384);
const DEBUG: (u32, u32) = (8, 24);

fn main() -> Result<(), String> {
    println!("cargo:rerun-if-changed=build.rs");
    if var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "wasi") {
        // With the stack first, an overflow traps instead of silently changing a global.
        println!("cargo:rustc-link-arg-bins=--stack-first");
        println!("cargo:rustc-link-arg-bins=-zstack-size={STACK_BYTES}");
    }
    let release = var("PROFILE").is_ok_and(|profile| profile == "release");
    let (usual, large) = if release { RELEASE } else { DEBUG };
    let directory = var("OUT_DIR").map_err(|error| error.to_string())?;
    for (name, pieces) in [("usual.rs", usual), ("large.rs", large)] {
        write(Path::new(&directory).join(name), table(pieces))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Returns the source that the two programs include.
fn table(pieces: u32) -> String {
    let mut text = format!("static BALLAST: [wasm_guest_action::Piece; {pieces}] = [");
    for number in 0..pieces {
        // Writing to memory does not fail.
        let _ = write!(text, "wasm_guest_action::piece::<{number}>,");
    }
    text + "];"
}
