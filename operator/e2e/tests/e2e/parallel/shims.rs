//! Wasm in place of a container: pods that containerd hands to a shim.

use std::collections::BTreeMap;

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_e2e::engines::{self, reported};
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;
use wasmbench_model::wire::record::Record;

const WASMTIME: &str = r"
- {name: shim, preset: wasmtime-shim}
- {name: served, preset: wasmtime-shim-http}
";
const WASMEDGE: &str = r"
- {name: compiled, preset: wasmedge-shim}
- {name: interpreted, preset: wasmedge-shim, engine: {compile: Interpreter}}
";
const COMPILED: &str = r"
- {name: shim, preset: wasmtime-shim}
- {name: served, preset: wasmtime-shim-http}
- {name: compiled, preset: wasmedge-shim}
";
const QUICK: &str = r"
- {name: hello, path: /, expect: {body: hello}}
- {name: compute, path: '/compute?iters=2000', expect: {sameAcrossVariants: true}}
- {name: heavy, path: '/heavy?n=15', expect: {body: '610'}}
- {name: blake3, path: '/blake3?iters=2000', expect: {sameAcrossVariants: true}}
- {name: sleep, path: '/sleep?ms=20', expect: {body: slept}}
- {name: json, path: /json, expect: {sameAcrossVariants: true}}
- {name: echo, method: POST, path: /echo, bodyBytes: 1048576, expect: {sameAcrossVariants: true}}
- {name: state, path: /state, expect: {status: 200}}
- {name: proxy, path: /elsewhere, expect: {body: upstream}, upstream: true}
";
/// The module under the shim is the one that the preset `wasmedge-server` runs in a container, where the
/// test of presets has it do the others.
const OF_WASMEDGE: &str = r"
- {name: hello, path: /, expect: {body: hello}}
- {name: compute, path: '/compute?iters=400', expect: {sameAcrossVariants: true}}
- {name: sleep, path: '/sleep?ms=20', expect: {body: slept}}
- {name: state, path: /state, expect: {status: 200}}
- {name: proxy, path: /elsewhere, expect: {body: upstream}, upstream: true}
";
/// Takes a tenth of a second or three tenths, whatever is requested: a few requests must suffice.
const MIXED: &str = r"
- {name: mixed, path: '/mixed?seed=1', expect: {body: mixed}}
";

fn spec(variants: &str, workloads: &str, sweeps: &str) -> String {
    format!(
        r"
blocks: 1
seed: 1
variants:
- {{name: native, preset: native}}{variants}
workloads:{workloads}
sweeps:
{sweeps}"
    )
}

/// The RuntimeClass of a variant's pod.
fn class_of(variant: &str) -> Option<&'static str> {
    match variant {
        "shim" | "served" => Some("wasmtime"),
        "compiled" | "interpreted" => Some("wasmedge"),
        _ => None,
    }
}

/// Measures all variants. None may fail, run under another runtime than its own, respond
/// differently from the native one, or contradict its claim by its words or by how fast it
/// computes.
async fn measured(
    client: &Client,
    namespace: &str,
    spec: &str,
    count: usize,
) -> (BenchmarkRun, Vec<Record>) {
    let (run, records) = runs::measured(client, namespace, ("shim", spec), 600, count).await;
    for record in &records {
        let name = &record.trial.cell.variant;
        let subject = record.subject.as_ref().expect("the pod under test");
        assert_eq!(subject.runtime_class.as_deref(), class_of(name), "{name}");
    }
    runs::assert_alike(&run, &records);
    engines::assert_as_claimed(&run, &records);
    (run, records)
}

/// A variant that keeps no state between requests has no counter, which is reported and is not a
/// failure.
fn check_not_applicable(run: &BenchmarkRun) {
    let status = run.status.as_ref().expect("a finished run has a status");
    let [cell] = &status.not_applicable[..] else {
        panic!("{:?}", status.not_applicable);
    };
    assert_eq!((&*cell.variant, &*cell.what), ("served", "workload state"));
    assert!(cell.reason.contains("no state is kept"), "{}", cell.reason);
}

#[tokio::test]
async fn components_under_the_wasmtime_shim_answer_like_native_and_are_compiled() {
    with_namespace("shim", |client, namespace| async move {
        let sweeps = "  warmLatency: {requests: 100, warmupRequests: 0, connections: 8}\n";
        let spec = spec(WASMTIME, QUICK, sweeps);
        // Nine workloads of three variants, except what an instance per request cannot do.
        let (run, records) = measured(&client, &namespace, &spec, 26).await;
        check_not_applicable(&run);
        for record in &records {
            let facts = reported(record);
            if record.trial.cell.variant != "native" {
                assert_eq!(
                    (&*facts["engine"], &*facts["guest"]),
                    ("wasmtime", "wasm32-wasi")
                );
            }
        }
        let rates: BTreeMap<(&str, &str), f64> = run
            .status
            .iter()
            .flat_map(|status| &status.summary)
            .filter_map(|row| {
                let point = row.warm_latency.as_ref()?;
                Some(((&*row.workload, &*row.variant), point.rps))
            })
            .collect();
        // A service that only waits cannot be faster than its wait: 8 connections of 20 ms each. On
        // a busy machine it is slower.
        for variant in ["native", "shim", "served"] {
            let rate = rates[&("sleep", variant)];
            assert!(rate > 0.0 && rate <= 400.0, "{variant}: {rate}");
        }
    })
    .await;
}

#[tokio::test]
async fn modules_under_the_wasmedge_shim_answer_like_native_in_their_mode() {
    with_namespace("wasmedge", |client, namespace| async move {
        let sweeps = r"
  throughput: {connections: [100], durationSeconds: 1, warmupSeconds: 0}
";
        // With 100 connections, each waits for an interpreter that serves the others.
        let spec = spec(WASMEDGE, OF_WASMEDGE, sweeps);
        let (run, records) = measured(&client, &namespace, &spec, 15).await;
        engines::assert_distinguished(&run, &records, "compiled", "interpreted");
        for record in &records {
            let facts = reported(record);
            let mode = match &*record.trial.cell.variant {
                "compiled" => "Aot",
                "interpreted" => "Interpreter",
                _ => continue,
            };
            assert_eq!(
                (&*facts["engine"], &*facts["compileMode"]),
                ("wasmedge", mode)
            );
            assert!(facts["version"].starts_with("0."), "{facts:?}");
        }
    })
    .await;
}

#[tokio::test]
async fn work_and_waiting_are_mixed_in_every_compiled_guest() {
    with_namespace("mixed", |client, namespace| async move {
        let sweeps = "  warmLatency: {requests: 20, warmupRequests: 4}\n";
        let spec = spec(COMPILED, MIXED, sweeps);
        let (_, records) = measured(&client, &namespace, &spec, 4).await;
        for record in &records {
            let document = record.load().expect("a load");
            let window = document.timed.as_ref().expect("a window");
            let slowest = window.fortio["DurationHistogram"]["Max"].as_f64();
            // Some of 20 requests wait, depending on the draw.
            assert!(
                slowest.is_some_and(|seconds| seconds >= 0.29),
                "{record:#?}"
            );
        }
    })
    .await;
}
