//! The kernels in a folder: each `NAME.wasm` is one.

use std::collections::BTreeMap;
use std::path::Path;

/// Reads all modules of a folder, by the kernel's name.
pub fn read(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let unreadable = |path: &Path, error: std::io::Error| {
        let path = path.display();
        format!("could not read {path}: {error}")
    };
    let mut modules = BTreeMap::new();
    let entries = folder
        .read_dir()
        .map_err(|error| unreadable(folder, error))?;
    for entry in entries {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        if path.extension().is_none_or(|extension| extension != "wasm") {
            continue;
        }
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else {
            continue;
        };
        let module = std::fs::read(&path).map_err(|error| unreadable(&path, error))?;
        modules.insert(name.to_owned(), module);
    }
    if modules.is_empty() {
        let folder = folder.display();
        return Err(format!("there is no NAME.wasm in {folder}"));
    }
    Ok(modules)
}

/// What a worker answers to a call of a kernel that does not exist.
pub fn unknown(kernel: &str) -> String {
    format!("there is no kernel '{kernel}'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wasm_file_is_a_kernel() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        assert!(read(path).unwrap_err().contains("no NAME.wasm"));
        for name in ["gemm.wasm", "lu.wasm", "kernels.txt"] {
            std::fs::write(path.join(name), name).unwrap();
        }
        let modules = read(path).unwrap();
        let names: Vec<&String> = modules.keys().collect();
        assert_eq!(names, ["gemm", "lu"]);
        assert_eq!(modules["lu"], b"lu.wasm");
        assert!(read(&path.join("absent")).unwrap_err().contains("absent"));
    }
}
