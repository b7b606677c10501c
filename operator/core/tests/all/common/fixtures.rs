//! A run as a user writes it, and an administrator's configuration.

use serde_json::json;
use wasmbench_core::config::OperatorConfig;
use wasmbench_model::images::Images;

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
    let config = json!({
        "operatorNamespace": "wasmbench-system",
        "imageArchitectures": ["amd64"],
        "images": Images::in_registry("example.com", "1"),
        "coldStartServiceAccount": "wasmbench-cold-start",
    });
    serde_json::from_value(config).expect("the fixture is a configuration")
}
