//! Builds the binary form of the module that shows how fast an engine computes.

use std::path::Path;

/// The embedded gateway's module, so that all engines do the same work.
const COMPUTE: &str = "../../embedded/src/compute.wat";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={COMPUTE}");
    let directory = std::env::var("OUT_DIR")?;
    let binary = wat::parse_file(COMPUTE)?;
    std::fs::write(Path::new(&directory).join("compute.wasm"), binary)?;
    Ok(())
}
