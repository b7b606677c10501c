//! The chart as Helm renders it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde::Deserialize as _;
use serde_json::Value;

/// The namespace that the tests install into.
pub const NAMESPACE: &str = "wasmbench-system";
/// The oldest Kubernetes version that Chart.yaml allows.
const KUBE_VERSION: &str = "1.33.0";

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub fn folder() -> PathBuf {
    repository().join("charts/wasmbench")
}

/// Path of the pinned Helm; `WASMBENCH_HELM` in the environment names another one.
pub fn helm() -> &'static Path {
    static HELM: OnceLock<PathBuf> = OnceLock::new();
    HELM.get_or_init(|| {
        if let Some(helm) = std::env::var_os("WASMBENCH_HELM") {
            return helm.into();
        }
        let found = Command::new(repository().join("hack/tool"))
            .arg("helm")
            .output()
            .unwrap();
        assert!(
            found.status.success(),
            "{}",
            String::from_utf8_lossy(&found.stderr)
        );
        String::from_utf8(found.stdout).unwrap().trim().into()
    })
}

/// Runs Helm on the chart, and returns its output or its error output.
pub fn run(arguments: &[&str]) -> Result<String, String> {
    let done = Command::new(helm())
        .args(arguments)
        .current_dir(folder())
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if done.status.success() {
        Ok(text(done.stdout))
    } else {
        Err(text(done.stderr))
    }
}

/// The text that `helm template` prints with these further arguments.
pub fn template(arguments: &[&str]) -> Result<String, String> {
    let fixed = ["template", "wasmbench", ".", "--kube-version", KUBE_VERSION];
    let namespace = ["--namespace", NAMESPACE];
    let own = arguments.contains(&"--namespace");
    let namespace: &[&str] = if own { &[] } else { &namespace };
    run(&[&fixed, namespace, arguments].concat())
}

/// The objects that `helm template` renders with these further arguments.
pub fn render(arguments: &[&str]) -> Vec<Value> {
    let text = template(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
    serde_yaml::Deserializer::from_str(&text)
        .map(|document| Value::deserialize(document).unwrap())
        .filter(|object| !object.is_null())
        .collect()
}

pub fn of_kind<'a>(objects: &'a [Value], kind: &str) -> Vec<&'a Value> {
    objects
        .iter()
        .filter(|object| object["kind"] == kind)
        .collect()
}

/// The paths of all values files in `ci/`.
pub fn values_files() -> Vec<String> {
    let entries = std::fs::read_dir(folder().join("ci")).unwrap();
    let mut files: Vec<String> = entries
        .map(|entry| entry.unwrap().path().to_string_lossy().into_owned())
        .collect();
    files.sort();
    assert!(files.len() >= 4);
    files
}

/// The objects that the chart renders with each values file.
pub fn renderings() -> Vec<(String, Vec<Value>)> {
    let with = |file: String| {
        let objects = render(&["--values", &file]);
        (file, objects)
    };
    values_files().into_iter().map(with).collect()
}

pub fn strings(value: &Value) -> BTreeSet<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}
