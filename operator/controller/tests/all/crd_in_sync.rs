//! The CRD in `crds/` and its copy in the chart are what the Rust types say. With `BLESS=1` in the
//! environment this test writes them instead: that is what `make generate` does.

use std::path::{Path, PathBuf};

use wasmbench_controller::controller::crd_yaml;

const FILE: &str = "wasmbench.dev_benchmarkruns.yaml";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn is_in_sync(path: &Path) {
    let wanted = crd_yaml().unwrap();
    if std::env::var_os("BLESS").is_some_and(|value| !value.is_empty()) {
        std::fs::write(path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == wanted,
        "{} is not what the types in operator/api say: run `make generate` and commit the result",
        path.display()
    );
}

#[test]
fn the_crd_in_the_repository_is_generated_from_the_types() {
    is_in_sync(&repository().join("crds").join(FILE));
}

/// A copy and not a link: `helm package` and checkouts without links keep it.
#[test]
fn the_crd_in_the_chart_is_the_same_file() {
    is_in_sync(&repository().join("charts/wasmbench/files").join(FILE));
}
