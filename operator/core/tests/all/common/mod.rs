//! Fixtures: a run as a user writes it, through the real `validate`.

use proptest::prelude::*;
use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::Precision;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_core::wire::record::Point;

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
images:
  probe: example.com/probe:1
  native: example.com/native:1
  embedded: example.com/embedded:1
  wasmtimeCli: example.com/wasmtime-cli:1
  wasmedgeCli: example.com/wasmedge-cli:1
  wasmtimeServe: example.com/wasmtime-serve:1
  v8: example.com/v8:1
  wasmerCli: example.com/wasmer-cli:1
  server: example.com/server:1
  http: example.com/http:1
  serverWasmedge: example.com/server-wasmedge:1
  serverWasmedgeAot: example.com/server-wasmedge-aot:1
  upstream: example.com/upstream:1
coldStartServiceAccount: wasmbench-cold-start
";
    serde_yaml::from_str(text).expect("the fixture is a configuration")
}

pub fn parse(text: &str) -> BenchmarkRun {
    serde_yaml::from_str(text).expect("the fixture is a run")
}

pub fn validated() -> ValidatedRun {
    validate(&parse(RUN), &config()).expect("the fixture is valid")
}

/// A smaller run that goes on until it is precise, after at most so many blocks.
pub fn precise(seed: i64, max_blocks: u32) -> BenchmarkRun {
    let mut run = parse(RUN);
    run.spec.seed = Some(seed);
    run.spec.workloads.truncate(1);
    run.spec.sweeps.throughput = None;
    run.spec.precision = Some(Precision {
        target_relative_interval: "5%".into(),
        max_blocks,
    });
    run
}

pub fn validated_precise(seed: i64, max_blocks: u32) -> ValidatedRun {
    validate(&precise(seed, max_blocks), &config()).expect("the fixture is valid")
}

/// The same run with cold starts instead of loads.
pub fn cold() -> BenchmarkRun {
    let mut run = parse(RUN);
    let text = "coldStart: {samples: 3, concurrency: [1, 4], timeoutSeconds: 20}\n\
                warmLatency: {requests: 100}";
    run.spec.sweeps = serde_yaml::from_str(text).expect("the fixture is a list of sweeps");
    run
}

pub fn validated_cold() -> ValidatedRun {
    validate(&cold(), &config()).expect("the fixture is valid")
}

/// Any point of any sweep, within the bounds of the CRD.
pub fn points() -> impl Strategy<Value = Point> {
    prop_oneof![
        Just(Point::WarmLatency),
        Just(Point::Density),
        (1u32..=64).prop_map(|concurrency| Point::ColdStart { concurrency }),
        (1u32..=2000).prop_map(|connections| Point::Throughput { connections }),
        (1u32..=99).prop_map(|percent_of_peak| Point::OpenLoop { percent_of_peak }),
    ]
}
