//! Wasm in the place of a container: pods that containerd hands to a shim.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

use std::collections::BTreeMap;

use kube::Client;
use wasmbench_api::BenchmarkRun;
use wasmbench_core::variants::engine::contradiction;
use wasmbench_core::wire::instrument::EngineFacts;
use wasmbench_core::wire::record::Record;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;

const WASMTIME: &str = r"
- {name: shim, preset: wasmtime-shim}
- {name: served, preset: wasmtime-shim-http}
";
const WASMEDGE: &str = r"
- {name: compiled, preset: wasmedge-shim}
- {name: interpreted, preset: wasmedge-shim, engine: {compile: Interpreter}}
";

fn spec(variants: &str, sweeps: &str) -> String {
    format!(
        r"
blocks: 1
seed: 1
variants:
- {{name: native, preset: native}}{variants}
workloads:
- {{name: hello, path: /, expect: {{body: hello}}}}
- {{name: compute, path: '/compute?iters=2000', expect: {{sameAcrossVariants: true}}}}
- {{name: heavy, path: '/heavy?n=15', expect: {{body: '610'}}}}
- {{name: blake3, path: '/blake3?iters=2000', expect: {{sameAcrossVariants: true}}}}
- {{name: sleep, path: '/sleep?ms=20', expect: {{body: slept}}}}
- {{name: json, path: /json, expect: {{sameAcrossVariants: true}}}}
- {{name: echo, path: '/echo?text', expect: {{body: text}}}}
- {{name: state, path: /state, expect: {{status: 200}}}}
- {{name: proxy, path: /elsewhere, expect: {{body: upstream}}, upstream: true}}
sweeps:
{sweeps}"
    )
}

/// Measures all variants; none may fail, run under another runtime than `class`, or contradict what it claims.
async fn measured(
    client: &Client,
    namespace: &str,
    (variants, sweeps): (&str, &str),
    class: &str,
) -> (BenchmarkRun, Vec<Record>) {
    runs::create(client, namespace, "shim", &spec(variants, sweeps)).await;
    let run = runs::finished(client, namespace, "shim", 600).await;
    let records = runs::records(client, &run).await;
    let outcomes = runs::outcomes(&records);
    let mut all = outcomes.values();
    assert!(all.all(|outcome| outcome == "Measured"), "{outcomes:#?}");
    for record in &records {
        let name = &record.trial.cell.variant;
        let subject = record.subject.as_ref().expect("the pod under test");
        let class = (name != "native").then_some(class);
        assert_eq!(subject.runtime_class.as_deref(), class);
        let mut variants = run.spec.variants.iter();
        let variant = variants.find(|variant| variant.name == *name);
        assert_eq!(
            contradiction(variant.expect("of the spec"), told(record)),
            None
        );
    }
    (run, records)
}

/// What the process under test told of its engine.
fn told(record: &Record) -> &EngineFacts {
    let document = record.document.as_ref().expect("a load");
    document.engine.as_ref().expect("a gateway tells")
}

/// What keeps no state between requests has no counter, which is said and is no failure.
fn check_not_applicable(run: &BenchmarkRun) {
    let status = run.status.as_ref().expect("a finished run has a status");
    let [cell] = &status.not_applicable[..] else {
        panic!("{:?}", status.not_applicable);
    };
    assert_eq!((&*cell.variant, &*cell.what), ("served", "workload state"));
    assert!(cell.reason.contains("no state is kept"), "{}", cell.reason);
}

fn ratio(says: &EngineFacts) -> f64 {
    says["computeRatio"].parse().expect("a number")
}

#[tokio::test]
async fn components_under_the_wasmtime_shim_answer_like_the_native_gateway_and_are_compiled() {
    with_namespace("shim", |client, namespace| async move {
        let sweeps = r"
  warmLatency: {requests: 100, warmupRequests: 10}
  throughput: {connections: [8], durationSeconds: 1, warmupSeconds: 1}
";
        let (run, records) = measured(&client, &namespace, (WASMTIME, sweeps), "wasmtime").await;
        // Nine workloads of three variants in two sweeps, without what an instance per request cannot do.
        assert_eq!(records.len(), 52);
        check_not_applicable(&run);
        for record in &records {
            let says = told(record);
            if record.trial.cell.variant != "native" {
                assert_eq!(
                    (&*says["engine"], &*says["guest"]),
                    ("wasmtime", "wasm32-wasi")
                );
                assert!((0.2..5.0).contains(&ratio(says)), "{says:?}");
            }
        }
        let rates: BTreeMap<(&str, &str), f64> = run
            .status
            .iter()
            .flat_map(|status| &status.summary)
            .filter_map(|row| {
                // Of a point, not the peak: that of a point on a noisy node does not count.
                let point = row.throughput.as_ref()?.points.first()?;
                Some(((&*row.workload, &*row.variant), point.rps))
            })
            .collect();
        // What only waits cannot be faster than its wait: 8 connections of 20 ms each.
        for variant in ["native", "shim", "served"] {
            let rate = rates[&("sleep", variant)];
            assert!((200.0..=400.0).contains(&rate), "{variant}: {rate}");
        }
    })
    .await;
}

#[tokio::test]
async fn modules_under_the_wasmedge_shim_answer_like_the_native_gateway_in_the_mode_they_claim() {
    with_namespace("wasmedge", |client, namespace| async move {
        let sweeps = r"
  throughput: {connections: [100], durationSeconds: 1, warmupSeconds: 1}
";
        let (_, records) = measured(&client, &namespace, (WASMEDGE, sweeps), "wasmedge").await;
        assert_eq!(records.len(), 27);
        for record in &records {
            let says = told(record);
            let mode = match &*record.trial.cell.variant {
                "compiled" => ("Aot", 0.2..5.0),
                "interpreted" => ("Interpreter", 5.0..1000.0),
                _ => continue,
            };
            assert_eq!(
                (&*says["engine"], &*says["compileMode"]),
                ("wasmedge", mode.0)
            );
            assert!(mode.1.contains(&ratio(says)), "{says:?}");
            assert!(says["version"].starts_with("0."), "{says:?}");
        }
    })
    .await;
}
