//! Gives the code the binary form of the module that shows how fast a runtime computes: the
//! embedded gateway's module, so that both do the same work.

use std::env;
use std::fs::write;
use std::path::Path;

const COMPUTE: &str = "../embedded/src/compute.wat";

fn main() -> Result<(), String> {
    println!("cargo:rerun-if-changed={COMPUTE}");
    let binary = wat::parse_file(COMPUTE).map_err(|error| error.to_string())?;
    let directory = env::var("OUT_DIR").map_err(|error| error.to_string())?;
    let path = Path::new(&directory).join("compute.wasm");
    write(path, binary).map_err(|error| format!("could not write {COMPUTE}: {error}"))
}
