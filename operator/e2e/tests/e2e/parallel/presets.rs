//! The presets that run in ordinary pods: each responds like the native one and proves its mode.
//! Those whose runtime must be compiled first run only by `make test-systems`.

use std::collections::BTreeMap;

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::namespace::{with_namespace, with_namespace_of};
use wasmbench_e2e::{engines, runs};
use wasmbench_model::wire::record::Record;

const IN_PROCESS: &str = r"
- {name: bare, preset: native-host-network}
- {name: jit, preset: wasmtime-embedded, engine: {compile: Jit}}
- {name: aot, preset: wasmtime-embedded}
";
const OF_COMMAND_LINES: &str = r"
- {name: wasmedge-cli, preset: wasmedge-cli}
- {name: wasmedge-slow, preset: wasmedge-cli, engine: {compile: Interpreter}}
- {name: server, preset: wasmedge-server}
- {name: server-slow, preset: wasmedge-server, engine: {compile: Interpreter}}
- {name: v8, preset: v8}
";
const SERVER: &str = r"
- {name: server, preset: wasmedge-server}
";
const SERVE: &str = r"
- {name: serve, preset: wasmtime-serve}
";
const OF_WASMTIMES_COMMAND_LINE: &str = r"
- {name: wasmtime-cli, preset: wasmtime-cli}
- {name: serve, preset: wasmtime-serve}
- {name: serve-aot, preset: wasmtime-serve, engine: {compile: Aot}}
";
const OF_WASMER: &str = r"
- {name: wasmer-cli, preset: wasmer-cli}
- {name: wasmer-jit, preset: wasmer-cli, engine: {compile: Jit}}
";
const OF_WASMCLOUD: &str = r"
- {name: wasmcloud, preset: wasmcloud}
";
const USUAL: &str = r"
- {name: hello, path: /, expect: {body: hello}}
- {name: compute, path: '/compute?iters=2000', expect: {sameAcrossVariants: true}}
- {name: proxy, path: /elsewhere, expect: {body: upstream}, upstream: true}
";
/// Where a process per request makes each trial expensive: what answers these answers `hello`, too.
const FEW: &str = r"
- {name: compute, path: '/compute?iters=2000', expect: {sameAcrossVariants: true}}
- {name: proxy, path: /elsewhere, expect: {body: upstream}, upstream: true}
";
/// What a guest that is the whole service does itself, rather than the gateway in front of it.
const MORE: &str = r"
- {name: heavy, path: '/heavy?n=15', expect: {body: '610'}}
- {name: blake3, path: '/blake3?iters=2000', expect: {sameAcrossVariants: true}}
- {name: sleep, path: '/sleep?ms=20', expect: {body: slept}}
- {name: json, path: /json, expect: {sameAcrossVariants: true}}
- {name: echo, method: POST, path: /echo, bodyBytes: 1048576, expect: {sameAcrossVariants: true}}
";

fn spec(variants: &str, workloads: &str) -> String {
    format!(
        r"
blocks: 1
seed: 1
variants:
- {{name: native, preset: native}}{variants}
workloads:{workloads}
sweeps:
  warmLatency: {{requests: 20, warmupRequests: 2}}
"
    )
}

/// Measures each variant under each workload. All must give the native responses, and none may
/// contradict what it claims, which would make its points invalid.
async fn measured(
    client: &Client,
    namespace: &str,
    spec: &str,
    count: usize,
) -> (BenchmarkRun, Vec<Record>) {
    let (run, records) = runs::measured(client, namespace, ("presets", spec), 600, count).await;
    let status = run.status.as_ref().expect("a finished run has a status");
    for row in &status.summary {
        assert!(row.warm_latency.is_some(), "{row:?}");
    }
    runs::assert_alike(&run, &records);
    engines::assert_as_claimed(&run, &records);
    (run, records)
}

/// The mode that each variant's process reported.
fn modes(records: &[Record]) -> BTreeMap<&str, &str> {
    fn mode(record: &Record) -> Option<(&str, &str)> {
        let engine = record.load()?.engine.as_ref()?;
        Some((&*record.trial.cell.variant, &**engine.get("compileMode")?))
    }
    records.iter().filter_map(mode).collect()
}

#[tokio::test]
async fn presets_of_one_process_answer_like_native_in_the_mode_they_claim() {
    with_namespace_of("privileged", "presets", |client, namespace| async move {
        let spec = spec(IN_PROCESS, USUAL);
        let (_, records) = measured(&client, &namespace, &spec, 12).await;
        let modes = modes(&records);
        for (variant, mode) in [("jit", "Jit"), ("aot", "Aot")] {
            assert_eq!(modes[variant], mode, "{variant}");
        }
    })
    .await;
}

#[tokio::test]
async fn presets_of_command_lines_answer_like_native_in_the_mode_they_claim() {
    with_namespace("clis", |client, namespace| async move {
        let spec = spec(OF_COMMAND_LINES, FEW);
        let (run, records) = measured(&client, &namespace, &spec, 12).await;
        let modes = modes(&records);
        for (variant, mode) in [
            ("wasmedge-cli", "Aot"),
            ("wasmedge-slow", "Interpreter"),
            ("server", "Aot"),
            ("server-slow", "Interpreter"),
            ("v8", "Jit"),
        ] {
            assert_eq!(modes[variant], mode, "{variant}");
        }
        engines::assert_distinguished(&run, &records, "wasmedge-cli", "wasmedge-slow");
        engines::assert_distinguished(&run, &records, "server", "server-slow");
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_a_guest_does_every_workload_like_the_native_one() {
    with_namespace("servers", |client, namespace| async move {
        measured(&client, &namespace, &spec(SERVER, MORE), 10).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs wasmtime's command line, minutes of compiling: make test-systems"]
async fn presets_of_wasmtimes_cli_answer_like_native_in_the_mode_they_claim() {
    with_namespace("wasmtimes", |client, namespace| async move {
        let spec = spec(OF_WASMTIMES_COMMAND_LINE, USUAL);
        let (_, records) = measured(&client, &namespace, &spec, 12).await;
        let modes = modes(&records);
        for (variant, mode) in [
            ("wasmtime-cli", "Aot"),
            ("serve", "Jit"),
            ("serve-aot", "Aot"),
        ] {
            assert_eq!(modes[variant], mode, "{variant}");
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs wasmtime's command line, minutes of compiling: make test-systems"]
async fn wasmtime_serve_does_every_workload_like_the_native_one() {
    with_namespace("serve", |client, namespace| async move {
        let spec = spec(SERVE, MORE);
        measured(&client, &namespace, &spec, 10).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs Wasmer's library, 8 minutes of compiling: make test-systems"]
async fn the_preset_of_wasmer_answers_like_the_native_one_in_the_mode_it_claims() {
    with_namespace("wasmer", |client, namespace| async move {
        let spec = spec(OF_WASMER, USUAL);
        let (_, records) = measured(&client, &namespace, &spec, 9).await;
        let modes = modes(&records);
        for (variant, mode) in [("wasmer-cli", "Aot"), ("wasmer-jit", "Jit")] {
            assert_eq!(modes[variant], mode, "{variant}");
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a host of wasmCloud, half an hour of compiling: make test-systems"]
async fn a_host_of_wasmcloud_does_every_workload_like_the_native_one() {
    with_namespace("wasmcloud", |client, namespace| async move {
        let spec = spec(OF_WASMCLOUD, MORE);
        measured(&client, &namespace, &spec, 10).await;
    })
    .await;
}
