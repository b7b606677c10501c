//! Images of one Wasm file, built and loaded as a user would do it.

use std::path::{Path, PathBuf};

use crate::kubectl::run;

/// Builds an image from these bytes, which need not be Wasm, loads it onto the nodes and returns
/// its reference.
pub async fn load(folder: &Path, name: &str, bytes: &[u8]) -> String {
    let (file, archive) = (folder.join(name), folder.join(format!("{name}.tar")));
    std::fs::write(&file, bytes).expect("the file is written");
    let reference = format!("localhost/wasmbench/e2e-{name}:1");
    let archive = archive.to_str().expect("a plain path");
    let file = file.to_str().expect("a plain path");
    hack("images", &["wasm", file, &reference, archive]).await;
    hack("cluster", &["load", archive]).await;
    reference
}

async fn hack(program: &str, arguments: &[&str]) {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../hack", program]
        .iter()
        .collect();
    let output = run(path.to_str().expect("a plain path"), arguments).await;
    assert!(
        output.ok,
        "hack/{program} {arguments:?}: {}{}",
        output.stdout, output.stderr
    );
}
