//! The presets that run in ordinary pods: each answers like the native one, and proves its mode.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

use std::collections::BTreeMap;

use kube::Client;
use wasmbench_core::wire::record::Record;
use wasmbench_e2e::namespace::{with_namespace, with_namespace_of};
use wasmbench_e2e::runs;

const IN_PROCESS: &str = r"
- {name: bare, preset: native-host-network}
- {name: aot, preset: wasmtime-embedded, engine: {allocator: OnDemand, compile: Aot}}
- {name: pooled-aot, preset: wasmtime-embedded, engine: {allocator: Pooling, compile: Aot}}
";
const OF_COMMAND_LINES: &str = r"
- {name: wasmtime-cli, preset: wasmtime-cli}
- {name: wasmedge-cli, preset: wasmedge-cli}
- {name: wasmedge-slow, preset: wasmedge-cli, engine: {compile: Interpreter}}
- {name: server, preset: wasmedge-server}
- {name: server-slow, preset: wasmedge-server, engine: {compile: Interpreter}}
- {name: serve, preset: wasmtime-serve}
- {name: serve-aot, preset: wasmtime-serve, engine: {compile: Aot}}
";
const FURTHER: &str = r"
- {name: v8, preset: v8}
";
const PROXY: &str = "\n- {name: proxy, path: /elsewhere, expect: {body: upstream}, upstream: true}";

fn spec(variants: &str, further_workloads: &str) -> String {
    format!(
        r"
blocks: 1
seed: 1
variants:
- {{name: native, preset: native}}{variants}
workloads:
- {{name: hello, path: /, expect: {{body: hello}}}}
- {{name: compute, path: '/compute?iters=2000', expect: {{sameAcrossVariants: true}}}}{further_workloads}
sweeps:
  warmLatency: {{requests: 50, warmupRequests: 5}}
"
    )
}

/// Measures each variant under each workload; all must give the native answers, and none may
/// contradict what it claims, which would make its points invalid.
async fn measured(client: &Client, namespace: &str, spec: &str, count: usize) -> Vec<Record> {
    runs::create(client, namespace, "presets", spec).await;
    let run = runs::finished(client, namespace, "presets", 600).await;
    let records = runs::records(client, &run).await;
    let outcomes = runs::outcomes(&records);
    assert_eq!(records.len(), count, "{outcomes:#?}");
    let mut all = outcomes.values();
    assert!(all.all(|outcome| outcome == "Measured"), "{outcomes:#?}");
    let status = run.status.as_ref().expect("a finished run has a status");
    for row in &status.summary {
        assert!(row.warm_latency.is_some(), "{row:?}");
    }
    records
}

/// The mode that each variant's process told.
fn modes(records: &[Record]) -> BTreeMap<&str, &str> {
    fn mode(record: &Record) -> Option<(&str, &str)> {
        let engine = record.document.as_ref()?.engine.as_ref()?;
        Some((&*record.trial.cell.variant, &**engine.get("compileMode")?))
    }
    records.iter().filter_map(mode).collect()
}

#[tokio::test]
async fn presets_of_one_process_answer_like_the_native_one_in_the_mode_they_claim() {
    with_namespace_of("privileged", "presets", |client, namespace| async move {
        let records = measured(&client, &namespace, &spec(IN_PROCESS, PROXY), 12).await;
        let modes = modes(&records);
        assert_eq!((modes["aot"], modes["pooled-aot"]), ("Aot", "Aot"));
    })
    .await;
}

#[tokio::test]
async fn presets_of_command_lines_answer_like_the_native_one_in_the_mode_they_claim() {
    with_namespace("clis", |client, namespace| async move {
        let spec = spec(OF_COMMAND_LINES, PROXY);
        let records = measured(&client, &namespace, &spec, 24).await;
        let modes = modes(&records);
        for (variant, mode) in [
            ("wasmtime-cli", "Aot"),
            ("wasmedge-cli", "Aot"),
            ("wasmedge-slow", "Interpreter"),
            ("serve", "Jit"),
            ("serve-aot", "Aot"),
            ("server", "Aot"),
            ("server-slow", "Interpreter"),
        ] {
            assert_eq!(modes[variant], mode, "{variant}");
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs images that are built by name only: make e2e-clis"]
async fn presets_of_further_runtimes_answer_like_the_native_one_in_the_mode_they_claim() {
    with_namespace("further", |client, namespace| async move {
        let spec = spec(FURTHER, PROXY);
        let records = measured(&client, &namespace, &spec, 6).await;
        assert_eq!(modes(&records)["v8"], "Jit");
    })
    .await;
}
