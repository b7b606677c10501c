//! Gives the shim the version of wasmtime from the lock file, to report it.

use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let lock = Path::new(&std::env::var("CARGO_MANIFEST_DIR")?).join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let text = std::fs::read_to_string(lock)?;
    let mut lines = text.lines();
    lines
        .find(|line| *line == "name = \"wasmtime\"")
        .ok_or("the lock file does not name wasmtime")?;
    let version = lines
        .next()
        .and_then(|line| line.strip_prefix("version = \"")?.strip_suffix('"'))
        .ok_or("the lock file has no version of wasmtime")?;
    println!("cargo::rustc-env=WASMTIME_VERSION={version}");
    Ok(())
}
