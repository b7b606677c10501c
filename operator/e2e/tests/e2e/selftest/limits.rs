//! One program with one CPU and with half of it, in one run: the limit is what the variants differ in.

use wasmbench_e2e::namespace::with_namespace;
use wasmbench_e2e::operator::test_image;
use wasmbench_e2e::runs;
use wasmbench_e2e::selftest::found;

/// A request takes 10 ms of CPU time, so that a CPU serves 100 in a second. Rungs lie around that and
/// around half of it.
const SPEC: &str = r"
blocks: 3
noiseFloor: false
variants:
- name: whole
  container: {image: 'IMAGE'}
  resources: {requests: {cpu: 100m}, limits: {cpu: '1', memory: 64Mi}}
- name: half
  container: {image: 'IMAGE'}
  resources: {requests: {cpu: 100m}, limits: {cpu: 500m, memory: 64Mi}}
workloads: [{name: busy, path: '/busy?cpu_microseconds=10000', expect: {body: hello}}]
sweeps:
  openLoop:
    target: {p99: 1000ms}
    rates: [45, 55, 65, 90, 100, 110, 120, 130]
    connections: 2
    durationSeconds: 10
    warmupSeconds: 2
";

#[tokio::test]
#[ignore = "needs a quiet node: make selftest"]
async fn a_variant_with_half_of_the_cpu_has_half_of_the_capacity() {
    with_namespace("half", |client, namespace| async move {
        let spec = SPEC.replace("IMAGE", &test_image(&client, "misbehave").await);
        let run = runs::finished_on_quiet_node(&client, &namespace, "half", &spec, 1500).await;
        let status = run.status.as_ref().expect("a status");
        let row = status.summary.iter().find(|row| row.variant == "half");
        let capacity = row.and_then(|row| row.capacity.as_ref());
        let capacity = capacity.unwrap_or_else(|| panic!("{status:#?}"));
        let judged = capacity.judged.as_ref().expect("a ratio");
        found(
            "capacity of a variant with half of the CPU",
            &format!("{:.2}x", judged.ratio),
            "about 0.50x",
        );
        assert_eq!(judged.bound, None, "{judged:?}");
        assert!((0.45..0.55).contains(&judged.ratio), "{judged:?}");
        let limited = capacity.limited.as_deref().unwrap_or_default();
        assert!(limited.contains("of its periods"), "{limited}");
    })
    .await;
}
