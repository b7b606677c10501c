//! Gives the code the version of the engine that its package is named after, which the engine itself does not report.

const LOCK: &str = "../../../Cargo.lock";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed={LOCK}");
    let lock = std::fs::read_to_string(LOCK)?;
    let package = std::env::var("CARGO_PKG_NAME")?;
    let engine = package.rsplit('-').next().unwrap_or_default();
    let version = lock
        .split("[[package]]")
        .find(|package| package.contains(&format!("\nname = \"{engine}\"\n")))
        .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
        .ok_or_else(|| format!("Cargo.lock has no {engine}"))?;
    println!("cargo:rustc-env=ENGINE_VERSION={version}");
    Ok(())
}
