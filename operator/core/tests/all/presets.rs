//! What each preset's pod runs, what it needs, and what it cannot do.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::PodSpec;
use wasmbench_core::build::subject_pod::subject_pod;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Step, plan};
use wasmbench_core::validate::{Invalid, ValidatedRun, validate};
use wasmbench_model::cells::cells_of;
use wasmbench_model::wire::failure::FailureReason;

use crate::common;

const WARM: &str = "{warmLatency: {requests: 100}}";

/// A run of `native` and `variant`; the latter is a list of fields after the name.
fn checked(variant: &str, sweeps: &str, config: &OperatorConfig) -> Result<ValidatedRun, Invalid> {
    let text = format!(
        r"
apiVersion: wasmbench.dev/v1alpha1
kind: BenchmarkRun
metadata: {{name: gatekeeper, namespace: team-a, uid: 6f0c0e6e-0000-4000-8000-000000000001}}
spec:
  blocks: 2
  variants: [{{name: tortoise, preset: native}}, {{name: hare, {variant}}}]
  workloads: [{{name: greet, path: /}}, {{name: count, path: /state}}, {{name: relay, path: /other, upstream: true}}]
  sweeps: {sweeps}
"
    );
    validate(&common::parse(&text), config)
}

fn allowing_all() -> OperatorConfig {
    OperatorConfig {
        host_network: true,
        ..common::config()
    }
}

/// The pod of the variant under test.
fn pod(variant: &str) -> PodSpec {
    let run = checked(variant, WARM, &allowing_all()).unwrap();
    let trial = run.order.iter().find(|trial| trial.cell.variant == "hare");
    let trial = trial.unwrap();
    let pod = subject_pod(&run, run.variant(trial).unwrap(), trial, "bench-1", None);
    pod.spec.unwrap()
}

/// The next steps of a run that holds its node.
fn steps(run: &ValidatedRun) -> Vec<Step> {
    let observed = Observed {
        nodes: vec![common::node("bench-1")],
        demands: common::demands(run),
        leases: vec![common::lease("bench-1", Some(run.uid.clone()))],
        ..Observed::default()
    };
    plan(run, &observed, Timestamp::UNIX_EPOCH).steps
}

#[test]
fn only_the_host_network_variant_is_on_the_nodes_network() {
    let bare = pod("preset: native-host-network");
    assert_eq!(bare.host_network, Some(true));
    let native = pod("preset: native");
    assert_eq!(native.host_network, None);
    assert_eq!(bare.containers[0].image, native.containers[0].image);
}

#[test]
fn host_network_variants_are_skipped_where_not_allowed() {
    let run = checked("preset: native-host-network", WARM, &common::config()).unwrap();
    let [Step::RecordSkipped(skipped)] = &steps(&run)[..] else {
        panic!("nothing is skipped");
    };
    assert_eq!(skipped.failure.reason, FailureReason::NotAllowed);
    assert!(skipped.failure.message.contains("hostNetwork.enabled"));
    assert!(
        skipped
            .trials
            .iter()
            .all(|trial| trial.cell.variant == "hare")
    );
    assert_eq!(skipped.trials.len() * 2, run.order.len());
    let allowed = checked("preset: native-host-network", WARM, &allowing_all()).unwrap();
    assert!(!matches!(&steps(&allowed)[..], [Step::RecordSkipped(_)]));
}

#[test]
fn trials_that_a_preset_cannot_do_are_never_planned() {
    let sweeps = "{coldStart: {samples: 2, concurrency: [1, 4]}, density: {instances: [1, 8]}}";
    let run = checked("preset: native-host-network", sweeps, &allowing_all()).unwrap();
    let points = |name: &str| {
        let cells = cells_of(&run.spec).into_iter();
        let cells = cells.filter(|cell| cell.variant == name && cell.workload == "greet");
        cells.map(|cell| cell.point.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(points("tortoise"), ["cold-c1", "cold-c4", "density"]);
    assert_eq!(points("hare"), ["cold-c1"]);
    assert_eq!(run.order.len(), 2 + 2 * cells_of(&run.spec).len());
}

#[test]
fn a_run_without_any_applicable_trial_is_refused() {
    let sweeps = "{density: {instances: [1, 8]}}";
    let mut run = common::cold();
    run.spec.sweeps = serde_yaml::from_str(sweeps).unwrap();
    run.spec.baseline = None;
    run.spec.variants =
        serde_yaml::from_str("[{name: bare, preset: native-host-network}]").unwrap();
    let invalid = validate(&run, &allowing_all()).unwrap_err();
    assert_eq!(invalid.field, "spec.variants");
    assert!(invalid.message.contains("share its ports"), "{invalid}");
}

#[test]
fn an_expectation_on_a_number_that_cannot_exist_is_refused() {
    let mut run = common::cold();
    run.spec.sweeps = serde_yaml::from_str("{coldStart: {samples: 2, concurrency: [4]}}").unwrap();
    run.spec.variants[1] =
        serde_yaml::from_str("{name: hare, preset: native-host-network}").unwrap();
    let expectation =
        "[{name: quick, metric: coldStartAnswer, variant: hare, workload: greet, atMost: '1ms'}]";
    run.spec.expectations = serde_yaml::from_str(expectation).unwrap();
    let invalid = validate(&run, &allowing_all()).unwrap_err();
    assert_eq!(invalid.field, "spec.expectations[quick]");
    assert!(
        invalid.message.contains("there will be no such number"),
        "{invalid}"
    );
}

#[test]
fn the_embedded_engine_gets_its_allocator_and_compile_mode() {
    let env = |engine: &str| {
        let pod = pod(&format!("preset: wasmtime-embedded{engine}"));
        let env = pod.containers[0].env.clone().unwrap();
        env.into_iter()
            .map(|v| v.value.unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(env(""), ["OnDemand", "Aot"]);
    assert_eq!(
        env(", engine: {allocator: Pooling, compile: Jit}"),
        ["Pooling", "Jit"]
    );
}

#[test]
fn a_command_line_runtime_runs_behind_a_gateway_in_its_own_image() {
    let wasmtime = pod("preset: wasmtime-cli");
    assert_eq!(
        wasmtime.containers[0].image.as_deref(),
        Some("example.com/wasmtime-cli:1")
    );
    assert_eq!(wasmtime.runtime_class_name, None);
    let mode = |engine: &str| {
        let pod = pod(&format!("preset: wasmedge-cli{engine}"));
        let env = pod.containers[0].env.clone().unwrap();
        env[0].value.clone().unwrap()
    };
    assert_eq!(mode(""), "Aot");
    assert_eq!(mode(", engine: {compile: Interpreter}"), "Interpreter");
}

#[test]
fn wasmer_cli_gets_its_compile_mode() {
    let mode = |engine: &str| {
        let pod = pod(&format!("preset: wasmer-cli{engine}"));
        let container = &pod.containers[0];
        assert_eq!(container.image.as_deref(), Some("example.com/wasmer-cli:1"));
        let env = container.env.clone().unwrap();
        (env[0].name.clone(), env[0].value.clone().unwrap())
    };
    let variable = |value: &str| ("WASMBENCH_ENGINE_COMPILE".to_owned(), value.to_owned());
    assert_eq!(mode(""), variable("Aot"));
    assert_eq!(mode(", engine: {compile: Jit}"), variable("Jit"));
}

#[test]
fn a_guest_of_the_wasmedge_shim_is_compiled_or_interpreted_by_its_image() {
    for (engine, image) in [
        ("", "server-wasmedge-aot"),
        (", engine: {compile: Aot}", "server-wasmedge-aot"),
        (", engine: {compile: Interpreter}", "server-wasmedge"),
    ] {
        let pod = pod(&format!("preset: wasmedge-shim{engine}"));
        assert_eq!(pod.runtime_class_name.as_deref(), Some("wasmedge"));
        let expected = format!("example.com/{image}:1");
        assert_eq!(pod.containers[0].image.as_deref(), Some(&*expected));
    }
}

#[test]
fn the_wasmedge_server_uses_its_runtimes_image_and_gets_its_mode() {
    for (engine, mode) in [
        ("", "Aot"),
        (", engine: {compile: Interpreter}", "Interpreter"),
    ] {
        let pod = pod(&format!("preset: wasmedge-server{engine}"));
        assert_eq!(pod.runtime_class_name, None);
        let container = &pod.containers[0];
        assert_eq!(
            container.image.as_deref(),
            Some("example.com/wasmedge-cli:1")
        );
        assert_eq!(
            container.args.as_deref(),
            Some(&["serve-wasmedge".to_owned()][..])
        );
        let env = container.env.as_deref().unwrap();
        assert_eq!(env[0].value.as_deref(), Some(mode));
    }
}

#[test]
fn a_command_line_server_gets_its_compile_mode() {
    let mode = |engine: &str| {
        let pod = pod(&format!("preset: wasmtime-serve{engine}"));
        assert_eq!(pod.runtime_class_name, None);
        let container = &pod.containers[0];
        assert_eq!(
            container.image.as_deref(),
            Some("example.com/wasmtime-serve:1")
        );
        let env = container.env.clone().unwrap();
        (env[0].name.clone(), env[0].value.clone().unwrap())
    };
    let variable = |value: &str| ("WASMBENCH_ENGINE_COMPILE".to_owned(), value.to_owned());
    assert_eq!(mode(""), variable("Jit"));
    assert_eq!(mode(", engine: {compile: Aot}"), variable("Aot"));
}

#[test]
fn a_server_with_an_instance_per_request_has_no_cell_for_state() {
    let run = checked("preset: wasmtime-serve", WARM, &allowing_all()).unwrap();
    let cells = cells_of(&run.spec).into_iter();
    let cells = cells.filter(|cell| cell.variant == "hare");
    let workloads: Vec<_> = cells.map(|cell| cell.workload).collect();
    assert_eq!(workloads, ["greet", "relay"]);
}

#[test]
fn a_host_of_wasmcloud_has_no_cell_for_state_and_none_for_an_upstream() {
    let run = checked("preset: wasmcloud", WARM, &allowing_all()).unwrap();
    let cells = cells_of(&run.spec).into_iter();
    let cells = cells.filter(|cell| cell.variant == "hare");
    let workloads: Vec<_> = cells.map(|cell| cell.workload).collect();
    assert_eq!(workloads, ["greet"]);
    let pod = pod("preset: wasmcloud");
    assert_eq!(pod.runtime_class_name, None);
    let container = &pod.containers[0];
    assert_eq!(container.image.as_deref(), Some("example.com/wasmcloud:1"));
}

#[test]
fn engine_settings_unsupported_by_the_preset_are_refused() {
    for variant in [
        "preset: native, engine: {allocator: OnDemand}",
        "preset: wasmtime-cli, engine: {compile: Aot}",
        "preset: wasmtime-embedded, engine: {compile: Interpreter}",
        "preset: wasmedge-cli, engine: {compile: Jit}",
        "preset: wasmtime-serve, engine: {compile: Interpreter}",
        "preset: wasmtime-serve, engine: {allocator: Pooling}",
        "preset: v8, engine: {compile: Jit}",
        "preset: wasmcloud, engine: {compile: Jit}",
        "preset: wasmedge-cli, engine: {allocator: Pooling}",
        "preset: wasmer-cli, engine: {compile: Interpreter}",
        "preset: wasmer-cli, engine: {allocator: Pooling}",
        "preset: action-wasmtime, engine: {allocator: Pooling}",
        "preset: action-wasmtime, engine: {compile: Interpreter}",
        "preset: action-wasmer, engine: {compile: Interpreter}",
        "preset: action-wasmi, engine: {compile: Interpreter}",
        "preset: action-wamr, engine: {compile: Interpreter}",
        "preset: wasmedge-shim, engine: {compile: Jit}",
        "preset: wasmedge-server, engine: {allocator: Pooling}",
        "preset: wasmtime-shim, engine: {compile: Aot}",
    ] {
        let invalid = checked(variant, WARM, &allowing_all()).unwrap_err();
        assert_eq!(invalid.field, "spec.variants[1].engine", "{variant}");
    }
}
