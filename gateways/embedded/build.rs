//! Gives the code the engine's version, which `/engine` reports and wasmtime itself does not, the
//! target that it is compiled for, and the binary form of the module that shows how fast the engine
//! computes.

use std::env;
use std::fs::{read_to_string, write};
use std::path::Path;

const LOCK: &str = "../../Cargo.lock";
const COMPUTE: &str = "src/compute.wat";

fn main() -> Result<(), String> {
    println!("cargo:rerun-if-changed={LOCK}");
    let lock = read_to_string(LOCK).map_err(|error| format!("could not read {LOCK}: {error}"))?;
    let version = lock
        .split("[[package]]")
        .find(|package| package.contains("name = \"wasmtime\"\n"))
        .and_then(|package| package.split("version = \"").nth(1)?.split('"').next())
        .ok_or("Cargo.lock has no wasmtime")?;
    println!("cargo:rustc-env=WASMTIME_VERSION={version}");
    let target = env::var("TARGET").map_err(|error| error.to_string())?;
    println!("cargo:rustc-env=WASMBENCH_TARGET={target}");
    compute()
}

fn compute() -> Result<(), String> {
    println!("cargo:rerun-if-changed={COMPUTE}");
    let binary = wat::parse_file(COMPUTE).map_err(|error| error.to_string())?;
    let directory = env::var("OUT_DIR").map_err(|error| error.to_string())?;
    let path = Path::new(&directory).join("compute.wasm");
    write(path, binary).map_err(|error| format!("could not write {COMPUTE}: {error}"))
}
