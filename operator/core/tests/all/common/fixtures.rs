//! A run as a user writes it, and an administrator's configuration.

use wasmbench_core::config::OperatorConfig;

/// Names differ from presets and components on purpose, so that a swapped field shows.
pub const RUN: &str = r#"
apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {name: gatekeeper, namespace: team-a, uid: 6f0c0e6e-0000-4000-8000-000000000001}
spec:
  blocks: 2
  seed: 7
  baseline: tortoise
  placement: {nodeSelector: {disk: quiet}, tolerations: [{key: bench, operator: Exists}]}
  variants:
  - {name: tortoise, preset: native}
  - {name: hare, preset: wasmtime-embedded, engine: {allocator: Pooling}}
  - name: mine
    container:
      image: registry.example.com/team/mine@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
      args: ["--greeting", "$(HOSTNAME)"]
      env: [{name: MODE, value: quick}]
      port: 3000
      runtimeClassName: spin
  workloads:
  - {name: greet, path: /, expect: {body: hello}}
  - {name: relay, path: /elsewhere, upstream: true}
  sweeps:
    warmLatency: {requests: 100}
    throughput: {connections: [10, 50], durationSeconds: 5, warmupSeconds: 1}
"#;

pub fn config() -> OperatorConfig {
    let text = r"
operatorNamespace: wasmbench-system
imageArchitectures: [amd64]
images:
  probe: example.com/probe:1
  native: example.com/native:1
  embedded: example.com/embedded:1
  wasmtimeCli: example.com/wasmtime-cli:1
  wasmedgeCli: example.com/wasmedge-cli:1
  wasmtimeServe: example.com/wasmtime-serve:1
  v8: example.com/v8:1
  wasmerCli: example.com/wasmer-cli:1
  wasmcloud: example.com/wasmcloud:1
  actionNative: example.com/action-native:1
  actionWasmtime: example.com/action-wasmtime:1
  actionWasmi: example.com/action-wasmi:1
  actionWasmer: example.com/action-wasmer:1
  server: example.com/server:1
  http: example.com/http:1
  serverWasmedge: example.com/server-wasmedge:1
  serverWasmedgeAot: example.com/server-wasmedge-aot:1
  upstream: example.com/upstream:1
coldStartServiceAccount: wasmbench-cold-start
";
    serde_yaml::from_str(text).expect("the fixture is a configuration")
}
