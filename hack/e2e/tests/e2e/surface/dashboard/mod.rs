//! `kubectl wasmbench dashboard` in a real browser, on the real cluster, with the rights of somebody who may edit one
//! namespace.

mod every_page;
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

/// The same as somebody types it, with a name.
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

/// Leaves something in the page that a reload would take away.
async fn mark(browser: &Browser) {
    browser.evaluated("window.notReloaded = true").await;
}

/// The page is still the one that was marked.
async fn assert_marked(browser: &Browser) {
    let mark = browser
        .evaluated("return window.notReloaded === true")
        .await;
    assert_eq!(mark, true, "the page was loaded again");
}
