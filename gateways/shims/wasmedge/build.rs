//! Links WasmEdge's library: where it is now, and where it will be on a node.
//!
//! The library and what it links, the C library included, lie in a folder of their own on a node, whose
//! distribution may have none of it or another version. So the shim names its loader and where that looks.

use std::error::Error;
use std::path::{Path, PathBuf};

/// Where hack/cluster puts the libraries.
const ON_NODE: &str = "/usr/local/lib/containerd-shim-wasmedge";
/// The folder with the same libraries here. Without it the code can be checked and not linked.
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
        // They are newer than this machine may be.
        "-Wl,--allow-shlib-undefined".to_owned(),
        format!("-Wl,--dynamic-linker={ON_NODE}/{loader}"),
        format!("-Wl,--disable-new-dtags,-rpath,{ON_NODE}"),
        // Also what only a library needs: one that has a path of its own (LLVM's) is not looked up in ours.
        "-Wl,--no-as-needed".to_owned(),
    ] {
        println!("cargo::rustc-link-arg-bins={argument}");
    }
    for library in files.iter().filter(|name| name.starts_with("lib")) {
        println!("cargo::rustc-link-arg-bins=-l:{library}");
    }
    Ok(())
}

/// In a fixed order, so that the same libraries give the same program.
fn names_in(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut names = vec![];
    for file in std::fs::read_dir(folder)? {
        names.push(file?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}
