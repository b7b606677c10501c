//! Controllers of other projects, with the CRDs of their version: processes of this machine, which `hack/tool` builds.
//! Nothing of them is left after a test.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::process::Stdio;

use futures::FutureExt as _;
use tempfile::NamedTempFile;
use tokio::process::{Child, Command};

use crate::kubectl::{Output, hack, kubectl};
use crate::scale::NAMESPACE;

/// A controller.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// Its name in `hack/tool`.
    program: &'static str,
    /// Its arguments: it is alone, and listens on no port that something else may need.
    arguments: &'static [&'static str],
}

/// Argo Rollouts.
pub const ARGO_ROLLOUTS: Controller = Controller {
    program: "rollouts-controller",
    arguments: &[
        "--namespaced",
        "--namespace",
        NAMESPACE,
        "--leader-elect=false",
        "--metricsPort=0",
        "--healthzPort=0",
    ],
};

/// The operator of SpinKube.
pub const SPIN_OPERATOR: Controller = Controller {
    program: "spin-operator",
    arguments: &["--metrics-bind-address=0", "--health-probe-bind-address=0"],
};

/// Runs `test` with a controller. Removes all objects of its kinds afterwards, and the kinds.
pub async fn with_controller<F, Fut>(controller: Controller, test: F)
where
    F: FnOnce() -> Fut,
    Fut: Future<Output = ()>,
{
    let program = hack("tool", &[controller.program]).await;
    let program = Path::new(program.trim());
    let crds = program.with_file_name("crds");
    let crds = crds.to_str().expect("a plain path");
    add(crds).await;
    let log = NamedTempFile::new().expect("a file");
    let process = start(program, controller.arguments, &log);
    let result = AssertUnwindSafe(test()).catch_unwind().await;
    if result.is_err() {
        dump(controller, &log);
    }
    // What is deleted may wait for the controller.
    let removed = remove(crds).await;
    drop(process);
    if let Err(panic) = result {
        std::panic::resume_unwind(panic);
    }
    assert!(removed.iter().all(|output| output.ok), "{removed:?}");
}

/// It ends when it is dropped.
fn start(program: &Path, arguments: &[&str], log: &NamedTempFile) -> Child {
    let log = log.reopen().expect("the file");
    Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .expect("the controller starts")
}

async fn add(crds: &str) {
    let calls: [&[&str]; 2] = [
        &["apply", "--server-side", "--force-conflicts"],
        &["wait", "--for=condition=Established", "--timeout=60s"],
    ];
    for call in calls {
        let called = kubectl(&[call, &["--filename", crds]].concat()).await;
        assert!(called.ok, "{called:?}");
    }
}

/// The objects first, and with each what it owns: once its kind is gone, nobody collects that.
async fn remove(crds: &str) -> [Output; 2] {
    let names = "jsonpath={.items[*].metadata.name}";
    let kinds = kubectl(&["get", "--filename", crds, "--output", names]).await;
    let kinds: Vec<&str> = kinds.stdout.split_whitespace().collect();
    let kinds = kinds.join(",");
    let here = ["--all", "--namespace", NAMESPACE, "--cascade=foreground"];
    let objects = [&["delete", &kinds, "--timeout=120s"][..], &here[..]].concat();
    let kinds = ["delete", "--timeout=120s", "--filename", crds];
    [kubectl(&objects).await, kubectl(&kinds).await]
}

#[expect(clippy::print_stderr, reason = "evidence of a failed test")]
fn dump(controller: Controller, log: &NamedTempFile) {
    let text = std::fs::read_to_string(log.path()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().rev().take(60).collect();
    let last: Vec<&str> = lines.into_iter().rev().collect();
    eprintln!("--- {}\n{}", controller.program, last.join("\n"));
}
