//! Gives the code the engine's version, which wasmtime itself does not report.

const LOCK: &str = "../../../Cargo.lock";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={LOCK}");
    let lock = std::fs::read_to_string(LOCK)?;
    let version = lock
        .split("[[package]]")
        .find(|package| package.contains("name = \"wasmtime\"\n"))
        .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
        .ok_or("Cargo.lock has no wasmtime")?;
    println!("cargo:rustc-env=ENGINE_VERSION={version}");
    Ok(())
}
