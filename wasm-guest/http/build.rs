//! Link arguments for WASI: a small stack, placed first in memory.

use std::env::var;

/// Enough for every workload, with room for a panic's message. The linker's default is 1 MiB, and
/// the host resets the memory of an instance after each request.
const STACK_BYTES: u32 = 64 * 1024;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "wasi") {
        // With the stack first, an overflow traps instead of silently changing a global.
        println!("cargo:rustc-link-arg-cdylib=--stack-first");
        println!("cargo:rustc-link-arg-cdylib=-zstack-size={STACK_BYTES}");
    }
}
