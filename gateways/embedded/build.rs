//! Gives the code the engine's version, which `/engine` reports and wasmtime itself does not tell.

use std::fs::read_to_string;

const LOCK: &str = "../../Cargo.lock";

fn main() -> Result<(), String> {
    println!("cargo:rerun-if-changed={LOCK}");
    let lock = read_to_string(LOCK).map_err(|error| format!("could not read {LOCK}: {error}"))?;
    let version = lock
        .split("[[package]]")
        .find(|package| package.contains("name = \"wasmtime\"\n"))
        .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
        .ok_or("Cargo.lock has no wasmtime")?;
    println!("cargo:rustc-env=WASMTIME_VERSION={version}");
    Ok(())
}
