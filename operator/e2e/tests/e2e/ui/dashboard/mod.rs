//! `kubectl wasmbench dashboard` in a real browser, on the real cluster, with the rights of a user
//! who may edit one namespace.

mod every_page;
mod hidden;
mod refusals;
mod story;
mod suspended;

use wasmbench_e2e::browser::Browser;

/// Ten trials of a few seconds.
const SHORT: &str = r"
blocks: 5
noiseFloor: false
variants:
- {name: native, preset: native}
- {name: embedded, preset: wasmtime-embedded}
workloads: [{name: hello, expect: {bodySuffix: hello}}]
sweeps:
  throughput: {connections: [4], durationSeconds: 2, warmupSeconds: 1}
";

/// A manifest of the spec with a name, as somebody would type it.
fn manifest(name: &str, spec: &str) -> String {
    let spec = spec.trim().replace('\n', "\n  ");
    format!(
        "apiVersion: wasmbench.dev/v1alpha1\nkind: BenchmarkRun\nmetadata:\n  name: {name}\nspec:\n  {spec}\n"
    )
}

/// The row of a run in the list.
fn row(namespace: &str, run: &str) -> String {
    format!("#runs tr[data-run='{namespace}/{run}']")
}

/// Leaves a mark in the page that a reload would remove.
async fn mark(browser: &Browser) {
    browser.evaluated("window.notReloaded = true").await;
}

/// Asserts that the page has not been reloaded since it was marked.
async fn assert_marked(browser: &Browser) {
    let mark = browser
        .evaluated("return window.notReloaded === true")
        .await;
    assert_eq!(mark, true, "the page was loaded again");
}
