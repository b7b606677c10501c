//! The presets that serve kernels: all give the same answers, in the mode that they claim.

use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::{engines, runs};
use wasmbench_results::read::pod_use;

const VARIANTS: [&str; 16] = [
    "{name: clang, preset: kernel-clang}",
    "{name: gcc, preset: kernel-gcc}",
    "{name: wasmtime, preset: kernel-wasmtime, engine: {threads: 2}}",
    "{name: wasmtime-explicit, preset: kernel-wasmtime, engine: {boundsChecks: Explicit}}",
    "{name: wasmtime-unsafe, preset: kernel-wasmtime, engine: {boundsChecks: None}}",
    "{name: wasmtime-pool, preset: kernel-wasmtime, engine: {allocator: Pooling}}",
    "{name: wasmtime-batch, preset: kernel-wasmtime, engine: {allocator: PoolingBatched}}",
    "{name: wasm2c, preset: kernel-wasm2c-clang}",
    "{name: wasm2c-unsafe, preset: kernel-wasm2c-gcc, engine: {boundsChecks: Clamp}}",
    "{name: v8, preset: kernel-v8}",
    "{name: v8-explicit, preset: kernel-v8, engine: {boundsChecks: Explicit}}",
    "{name: v8-unsafe, preset: kernel-v8, engine: {boundsChecks: None}}",
    "{name: wasmer, preset: kernel-wasmer}",
    "{name: wasmer-explicit, preset: kernel-wasmer, engine: {boundsChecks: Explicit}}",
    "{name: wasm3, preset: kernel-wasm3}",
    "{name: wamr, preset: kernel-wamr}",
];

const WORKLOADS: [&str; 3] = [
    "{name: empty, path: '/kernel?name=empty', expect: {sameAcrossVariants: true}}",
    "{name: filled, path: '/kernel?name=filled', expect: {sameAcrossVariants: true}}",
    "{name: gemm, path: '/kernel?name=gemm', expect: {sameAcrossVariants: true}}",
];

#[tokio::test]
#[ignore = "needs compilers for C and libraries of engines, minutes of compiling: make test-systems"]
async fn kernels_have_the_same_results_in_every_engine_with_any_bounds_checks() {
    with_namespace("kernels", |client, namespace| async move {
        let spec = format!(
            "blocks: 1\nseed: 1\nvariants: [{}]\nworkloads: [{}]\n\
             sweeps: {{warmLatency: {{requests: 20, warmupRequests: 2}}}}\n",
            VARIANTS.join(", "),
            WORKLOADS.join(", "),
        );
        let count = VARIANTS.len() * WORKLOADS.len();
        let named = ("kernels", spec.as_str());
        let (run, records) = runs::measured(&client, &namespace, named, 1200, count).await;
        let status = run.status.as_ref().expect("a finished run has a status");
        for row in &status.summary {
            assert!(row.warm_latency.is_some(), "{row:?}");
        }
        for record in &records {
            let window = record.load().and_then(|load| load.timed.as_ref());
            // Natively each call is a process, whose switches the server has to report.
            let switches = pod_use::switches(window.expect("a timed window"));
            assert!(switches.is_some(), "{record:#?}");
        }
        runs::assert_alike(&run, &records);
        engines::assert_as_claimed(&run, &records);
    })
    .await;
}
