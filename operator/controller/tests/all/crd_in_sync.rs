//! The CRDs in `crds/` and their copies in the chart match the Rust types. With `BLESS=1` in the
//! environment, this test writes them first: that is what `make generate` does.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize as _;
use serde_json::Value;
use wasmbench_controller::crds;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Asserts that the folder contains exactly the generated CRDs.
fn is_in_sync(folder: &Path) {
    let wanted = crds::all().unwrap();
    let names: BTreeSet<&str> = wanted.iter().map(|(name, _)| name.as_str()).collect();
    for (name, text) in &wanted {
        let path = folder.join(name);
        if std::env::var_os("BLESS").is_some_and(|value| !value.is_empty()) {
            std::fs::write(&path, text).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == *text,
            "{} does not match the types in operator/api: run `make generate` and commit the result",
            path.display()
        );
    }
    let entries = std::fs::read_dir(folder).unwrap();
    for entry in entries {
        let name = entry.unwrap().file_name();
        assert!(
            names.contains(name.to_str().unwrap()),
            "{}: {}",
            folder.display(),
            name.display()
        );
    }
}

#[test]
fn the_crds_in_the_repository_are_generated_from_the_types() {
    is_in_sync(&repository().join("crds"));
}

/// Copies, not symlinks, so that `helm package` and checkouts without symlinks keep them.
#[test]
fn the_crds_in_the_chart_are_the_same_files() {
    is_in_sync(&repository().join("charts/wasmbench/files"));
}

#[test]
fn the_operator_prints_all_of_them_as_documents_of_one_file() {
    let text = crds::yaml().unwrap();
    let documents = serde_yaml::Deserializer::from_str(&text);
    let kinds = documents.map(|document| {
        let crd = Value::deserialize(document).unwrap();
        crd["spec"]["names"]["kind"].clone()
    });
    assert_eq!(
        kinds.collect::<Vec<_>>(),
        ["BenchmarkRun", "BenchmarkSchedule"]
    );
}
