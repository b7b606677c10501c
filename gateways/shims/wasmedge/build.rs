//! Links WasmEdge's library: where it is now, and where it will be on a node.
//!
//! On a node, the library and everything it links, including the C library, are in a folder of
//! their own, because the node's distribution may have none of it or other versions. So the shim
//! names its loader and the folder in which that looks.

use std::error::Error;
use std::path::{Path, PathBuf};

/// The folder into which hack/cluster puts the libraries.
const ON_NODE: &str = "/usr/local/lib/containerd-shim-wasmedge";
/// The folder with the same libraries here. Without it the code can be checked but not linked.
const HERE: &str = "WASMEDGE_LIBRARIES";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-env-changed={HERE}");
    let Some(here) = std::env::var_os(HERE).map(PathBuf::from) else {
        return Ok(());
    };
    let files = names_in(&here)?;
    let loader = files.iter().find(|name| name.starts_with("ld-linux"));
    let loader = loader.ok_or_else(|| format!("there is no ld-linux in {}", here.display()))?;
    for argument in [
        format!("-L{}", here.display()),
        // The libraries may be newer than this machine's.
        "-Wl,--allow-shlib-undefined".to_owned(),
        format!("-Wl,--dynamic-linker={ON_NODE}/{loader}"),
        format!("-Wl,--disable-new-dtags,-rpath,{ON_NODE}"),
        // Includes what only another library needs: what a library with a path of its own (LLVM's)
        // needs is not looked up in our folder.
        "-Wl,--no-as-needed".to_owned(),
    ] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    for library in files.iter().filter(|name| name.starts_with("lib")) {
        println!("cargo::rustc-link-arg-bins=-l:{library}");
    }
    Ok(())
}

/// Returns file names in a fixed order, so that the same libraries yield the same program.
fn names_in(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = vec![];
    for file in std::fs::read_dir(folder)? {
        names.push(file?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
