//! Wasm in the place of a container: pods that containerd hands to a shim.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a broken fixture must stop the test"
)]

use std::collections::BTreeMap;

use wasmbench_core::variants::engine::contradiction;
use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::runs;

const WORKLOADS: &str = r"
blocks: 1
seed: 1
variants:
- {name: native, preset: native}
- {name: shim, preset: wasmtime-shim}
- {name: served, preset: wasmtime-shim-http}
workloads:
- {name: hello, path: /, expect: {body: hello}}
- {name: compute, path: '/compute?iters=2000', expect: {sameAcrossVariants: true}}
- {name: heavy, path: '/heavy?n=15', expect: {body: '610'}}
- {name: blake3, path: '/blake3?iters=2000', expect: {sameAcrossVariants: true}}
- {name: sleep, path: '/sleep?ms=20', expect: {body: slept}}
- {name: json, path: /json, expect: {sameAcrossVariants: true}}
- {name: echo, path: '/echo?text', expect: {body: text}}
- {name: proxy, path: /elsewhere, expect: {body: upstream}, upstream: true}
sweeps:
  warmLatency: {requests: 100, warmupRequests: 10}
  throughput: {connections: [8], durationSeconds: 1, warmupSeconds: 1}
";

#[tokio::test]
async fn components_under_the_wasmtime_shim_answer_like_the_native_gateway_and_are_compiled() {
    with_namespace("shim", |client, namespace| async move {
        runs::create(&client, &namespace, "shim", WORKLOADS).await;
        let run = runs::finished(&client, &namespace, "shim", 600).await;
        let records = runs::records(&client, &run).await;
        let outcomes = runs::outcomes(&records);
        assert_eq!(records.len(), 48, "{outcomes:#?}");
        assert!(
            outcomes.values().all(|outcome| outcome == "Measured"),
            "{outcomes:#?}"
        );
        for record in &records {
            let subject = record.subject.as_ref().expect("the pod under test");
            let class = (record.trial.cell.variant != "native").then_some("wasmtime");
            assert_eq!(subject.runtime_class.as_deref(), class);
            let document = record.document.as_ref().expect("a load");
            let says = document.engine.as_ref().expect("a gateway tells");
            if class.is_some() {
                assert_eq!(
                    (&*says["engine"], &*says["guest"]),
                    ("wasmtime", "wasm32-wasi")
                );
                let ratio: f64 = says["computeRatio"].parse().expect("a number");
                assert!((0.2..5.0).contains(&ratio), "{says:?}");
            }
            let variants = run.spec.variants.iter();
            let variant = variants
                .into_iter()
                .find(|v| v.name == record.trial.cell.variant);
            assert_eq!(contradiction(variant.expect("of the spec"), says), None);
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
