//! Builds the binary form of the module that shows how fast an engine computes, for every crate that runs it:
//! the embedded gateway's module, so that all engines do the same work.

use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // This script is built again when the module changes, and then runs again.
    println!("cargo:rerun-if-changed=Cargo.toml");
    let directory = std::env::var("OUT_DIR")?;
    let binary = wat::parse_str(include_str!("../../embedded/src/compute.wat"))?;
    std::fs::write(Path::new(&directory).join("compute.wasm"), binary)?;
    Ok(())
}
