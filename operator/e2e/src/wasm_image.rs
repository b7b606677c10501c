//! Images of one Wasm file, built and loaded as a user would do it.

use std::path::Path;

use crate::kubectl::hack;

/// Builds an image from the bytes behind each name, which need not be Wasm, loads all of them onto the
/// nodes at once and returns their references.
pub async fn load<const N: usize>(folder: &Path, files: [(&str, &[u8]); N]) -> [String; N] {
    let reference = |name: &str| format!("localhost/wasmbench/e2e-{name}:1");
    let mut load = vec!["load".to_owned()];
    for (name, bytes) in files {
        let (file, archive) = (folder.join(name), folder.join(format!("{name}.tar")));
        std::fs::write(&file, bytes).expect("the file is written");
        let archive = archive.to_str().expect("a plain path");
        let file = file.to_str().expect("a plain path");
        hack("images", &["wasm", file, &reference(name), archive]).await;
        load.push(archive.to_owned());
    }
    let load: Vec<&str> = load.iter().map(String::as_str).collect();
    hack("cluster", &load).await;
    files.map(|(name, _)| reference(name))
}
