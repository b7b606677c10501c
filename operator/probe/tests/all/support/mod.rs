//! What the tests of the whole probe share: the load generator, a server on the loopback, a run of the binary.

pub mod cgroup;
pub mod node;
pub mod server;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};

use serde_json::{Value, json};
use wasmbench_model::wire::document::LoadDocument;
use wasmbench_model::wire::failure::FailureReason;
use wasmbench_model::wire::request::REQUEST_ENV;

/// Uid of the pod that requests name.
pub const UID: &str = "0f3c0a52-7f9e-4f6e-9d0a-2b0f5a3f1c11";

/// The machine's CPUs: shared by most tests, and held exclusively by a test that measures them.
static CPUS: RwLock<()> = RwLock::new(());

/// Whether the variable declares that this machine lacks `what` a test needs. A test that did
/// nothing must not look like one that passed: it is left out only on request, and fails otherwise.
pub fn is_left_out(variable: &str, what: &str) -> bool {
    let is_set = std::env::var_os(variable).is_some_and(|value| !value.is_empty());
    if is_set {
        println!("left out: {variable} declares that this machine has no {what}");
    }
    is_set
}

/// One run of the probe.
#[derive(Debug)]
pub struct Run {
    pub exit: Option<i32>,
    /// All lines but the last, which is the document.
    pub progress: String,
    pub document: LoadDocument,
}

impl Run {
    pub fn failed(&self) -> FailureReason {
        let failure = self.document.failure.as_ref();
        failure
            .unwrap_or_else(|| panic!("no failure:\n{}", self.progress))
            .reason
            .clone()
    }

    pub fn message(&self) -> &str {
        self.document
            .failure
            .as_ref()
            .map_or("", |failure| &failure.message)
    }

    /// A percentile as fortio's runner reports it, in seconds.
    pub fn percentile(&self, which: f64) -> f64 {
        let fortio = &self.document.timed.as_ref().unwrap().fortio;
        let list = fortio["DurationHistogram"]["Percentiles"]
            .as_array()
            .unwrap();
        let found = list
            .iter()
            .find(|one| one["Percentile"].as_f64() == Some(which));
        found.unwrap()["Value"].as_f64().unwrap()
    }

    /// Width of the bucket of fortio's histogram that holds `seconds`, as a share of them: by that
    /// much a percentile may be wrong.
    pub fn relative_width(&self, seconds: f64) -> f64 {
        let fortio = &self.document.timed.as_ref().unwrap().fortio;
        let buckets = fortio["DurationHistogram"]["Data"].as_array().unwrap();
        let edges = |bucket: &Value| {
            let edge = |name: &str| bucket[name].as_f64().unwrap();
            (edge("Start"), edge("End"))
        };
        // Rounding may put an interpolated value just above its bucket.
        let mut all = buckets.iter().map(edges);
        let found = all.find(|(_, end)| *end * (1.0 + 1e-9) >= seconds);
        let (start, end) = found.unwrap_or_else(|| panic!("{seconds} is in no bucket"));
        (end - start) / seconds
    }
}

/// The load generator's path: from the environment, or that of this repository, built if need be.
pub fn generator() -> &'static PathBuf {
    static GENERATOR: OnceLock<PathBuf> = OnceLock::new();
    GENERATOR.get_or_init(|| {
        if let Some(path) = std::env::var_os("WASMBENCH_GENERATOR") {
            return path.into();
        }
        let tool = concat!(env!("CARGO_MANIFEST_DIR"), "/../../hack/tool");
        let output = Command::new(tool)
            .arg("generator")
            .stderr(Stdio::inherit())
            .output();
        let output = output.unwrap_or_else(|error| panic!("could not run {tool}: {error}"));
        assert!(
            output.status.success(),
            "{tool} generator failed; or set WASMBENCH_GENERATOR"
        );
        String::from_utf8(output.stdout).unwrap().trim().into()
    })
}

/// A request to load a server on the loopback that answers `hello`.
pub fn request(port: u16) -> Value {
    json!({
        "address": "127.0.0.1",
        "port": port,
        "path": "/",
        "expect": {"status": 200, "body": "hello"},
        "podUid": UID,
        "connections": 1,
        "connectionReuse": "KeepAlive",
        "load": {"kind": "requests", "requests": 100, "warmupRequests": 20},
        "readyTimeoutSeconds": 60,
        "meter": "none",
    })
}

/// Runs the probe.
pub fn probe(request: &Value) -> Run {
    probe_with(request, &[])
}

/// Runs the probe with additional environment variables.
pub fn probe_with(request: &Value, environment: &[(&str, &str)]) -> Run {
    let _shared = shared_cpus();
    run(request, environment)
}

/// The machine's CPUs, shared with other tests.
pub fn shared_cpus() -> RwLockReadGuard<'static, ()> {
    CPUS.read().unwrap_or_else(PoisonError::into_inner)
}

fn run(request: &Value, environment: &[(&str, &str)]) -> Run {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wasmbench-probe"));
    command
        .arg("load")
        .env("WASMBENCH_GENERATOR", generator())
        .env(REQUEST_ENV, request.to_string());
    command.envs(environment.iter().copied());
    let output = command.output().unwrap();
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "",
        "on the standard error"
    );
    let printed = String::from_utf8(output.stdout).unwrap();
    let lines = printed.strip_suffix('\n').expect("a last line");
    let (progress, document) = lines.rsplit_once('\n').unwrap_or(("", lines));
    Run {
        exit: output.status.code(),
        progress: progress.to_owned(),
        document: serde_json::from_str(document)
            .unwrap_or_else(|_| panic!("no document:\n{printed}")),
    }
}
