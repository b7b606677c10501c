//! Link arguments for WASI: a small stack, placed first in memory.

use std::env::var;

/// Enough for `std`'s reading and writing, measured at below 2 KiB, with room for a panic's
/// message. The linker's default is 1 MiB, all of which each instance would map.
const STACK_BYTES: u32 = 16 * 1024;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "wasi") {
        // With the stack first, an overflow traps instead of silently changing a global.
        println!("cargo:rustc-link-arg-bins=--stack-first");
        println!("cargo:rustc-link-arg-bins=-zstack-size={STACK_BYTES}");
    }
}
