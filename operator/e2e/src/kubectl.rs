//! The command line, as a user would call it.

use std::path::PathBuf;

use tokio::process::Command;

/// What a command printed and how it ended.
#[derive(Debug)]
pub struct Output {
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
    /// Whether it exited with 0.
    pub ok: bool,
    /// Its exit code.
    pub code: Option<i32>,
}

/// Runs kubectl with these arguments. `make e2e` puts the pinned version first on PATH.
pub async fn kubectl(arguments: &[&str]) -> Output {
    run("kubectl", arguments).await
}

/// Runs a script of `hack` with these arguments, and returns what it printed.
pub async fn hack(script: &str, arguments: &[&str]) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "../../hack", script]
        .iter()
        .collect();
    let output = run(path.to_str().expect("a plain path"), arguments).await;
    assert!(
        output.ok,
        "hack/{script} {arguments:?}: {}{}",
        output.stdout, output.stderr
    );
    output.stdout
}

/// Runs a program with these arguments.
pub async fn run(program: &str, arguments: &[&str]) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .output()
        .await
        .unwrap_or_else(|error| panic!("{program} does not start: {error}"));
    Output {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        ok: output.status.success(),
        code: output.status.code(),
    }
}
