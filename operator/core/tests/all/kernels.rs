//! The presets that serve kernels: their settings, and how unsafe ones are fenced.

use jiff::Timestamp;
use serde_json::{Value, json};
use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::Variant;
use wasmbench_core::observed::Observed;
use wasmbench_core::plan::{Plan, Stage, Step, plan};
use wasmbench_core::subject::subject;
use wasmbench_core::validate::{Invalid, ValidatedRun, validate};
use wasmbench_model::cells::cells_of;

use crate::common;

/// What `validate` says of a run of native kernels and of a variant with these fields.
fn checked(variant: &Value) -> Result<ValidatedRun, Invalid> {
    validate(&input(variant), &common::config())
}

/// That run.
fn input(variant: &Value) -> BenchmarkRun {
    let run = json!({
        "apiVersion": "wasmbench.dev/v1alpha1",
        "kind": "BenchmarkRun",
        "metadata": {
            "name": "gatekeeper", "namespace": "team-a", "uid": "6f0c0e6e-0000-4000-8000-000000000001",
        },
        "spec": {
            "blocks": 2,
            "variants": [{"name": "tortoise", "preset": "kernel-clang"}, variant],
            "workloads": [{"name": "product", "path": "/kernel?name=gemm"}, {"name": "greet", "path": "/"}],
            "sweeps": {"warmLatency": {"requests": 100}},
        },
    });
    serde_json::from_value(run).unwrap()
}

/// Environment of the variant's pod.
fn env(variant: Value) -> Vec<(String, String)> {
    let variant: Variant = serde_json::from_value(variant).unwrap();
    let subject = subject(&variant, &common::config()).unwrap();
    let env = subject.env.into_iter();
    env.map(|one| (one.name, one.value)).collect()
}

fn owned(env: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned =
        |(name, value): &(&str, &str)| (format!("WASMBENCH_ENGINE_{name}"), (*value).into());
    env.iter().map(owned).collect()
}

#[test]
fn a_kernel_server_gets_its_settings_or_their_defaults_as_environment() {
    let native = env(json!({"name": "a", "preset": "kernel-gcc"}));
    assert_eq!(native, owned(&[("THREADS", "1")]));
    let usual = env(json!({"name": "a", "preset": "kernel-wasmtime"}));
    let expected = [
        ("ALLOCATOR", "OnDemand"),
        ("BOUNDS_CHECKS", "Guard"),
        ("THREADS", "1"),
    ];
    assert_eq!(usual, owned(&expected));
    let set = env(json!({
        "name": "a-unsafe", "preset": "kernel-wasm2c-clang", "engine": {"boundsChecks": "Clamp", "threads": 4},
    }));
    assert_eq!(set, owned(&[("BOUNDS_CHECKS", "Clamp"), ("THREADS", "4")]));
}

#[test]
fn a_preset_that_is_no_kernel_server_gets_neither_checks_nor_threads() {
    let embedded = env(json!({"name": "a", "preset": "wasmtime-embedded"}));
    assert_eq!(
        embedded,
        owned(&[("ALLOCATOR", "OnDemand"), ("COMPILE", "Aot")])
    );
}

#[test]
fn settings_that_a_preset_does_not_offer_are_refused() {
    for (preset, engine) in [
        ("native", json!({"threads": 2})),
        ("native", json!({"boundsChecks": "Guard"})),
        ("wasmtime-embedded", json!({"boundsChecks": "None"})),
        ("wasmtime-embedded", json!({"allocator": "PoolingBatched"})),
        ("kernel-gcc", json!({"boundsChecks": "Guard"})),
        ("kernel-gcc", json!({"compile": "Aot"})),
        ("kernel-clang", json!({"allocator": "Pooling"})),
        ("kernel-wasmtime", json!({"boundsChecks": "Clamp"})),
        (
            "kernel-wasmtime",
            json!({"boundsChecks": "Explicit", "allocator": "Pooling"}),
        ),
        (
            "kernel-wasmtime",
            json!({"boundsChecks": "None", "allocator": "OnDemandCopied"}),
        ),
        ("kernel-v8", json!({"boundsChecks": "Clamp"})),
        ("kernel-wasmer", json!({"boundsChecks": "None"})),
        ("kernel-wasm3", json!({"boundsChecks": "Guard"})),
        ("kernel-wamr", json!({"boundsChecks": "Guard"})),
        ("kernel-wamr", json!({"boundsChecks": "None"})),
    ] {
        let variant = json!({"name": "hare-unsafe", "preset": preset, "engine": engine});
        let invalid = checked(&variant).unwrap_err();
        assert_eq!(invalid.field, "spec.variants[1].engine", "{variant}");
    }
}

#[test]
fn an_own_container_has_no_checks_to_leave_out() {
    let variant = json!({
        "name": "hare-unsafe", "container": {"image": "example.com/a:1"}, "engine": {"boundsChecks": "None"},
    });
    let invalid = checked(&variant).unwrap_err();
    assert_eq!(invalid.field, "spec.variants[1].engine");
}

#[test]
fn an_unsafe_variant_says_so_in_its_name() {
    for checks in ["Clamp", "None"] {
        let variant = |name: &str| {
            checked(
                &json!({"name": name, "preset": "kernel-wasm2c-gcc", "engine": {"boundsChecks": checks}}),
            )
        };
        let invalid = variant("hare").unwrap_err();
        assert_eq!(invalid.field, "spec.variants[1].name");
        assert!(invalid.message.contains("word unsafe"), "{invalid}");
        assert!(variant("hare-unsafe").is_ok());
    }
    let guarded =
        json!({"name": "hare", "preset": "kernel-v8", "engine": {"boundsChecks": "Explicit"}});
    assert!(checked(&guarded).is_ok());
}

#[test]
fn the_twin_of_an_unsafe_baseline_is_called_as_every_twin() {
    let variant =
        json!({"name": "hare-unsafe", "preset": "kernel-v8", "engine": {"boundsChecks": "None"}});
    let mut run = input(&variant);
    run.spec.blocks = 5;
    run.spec.baseline = Some("hare-unsafe".into());
    let valid = validate(&run, &common::config()).unwrap();
    let mut variants = valid.spec.variants.iter();
    assert!(variants.any(|variant| variant.name == "baseline-twin"));
}

#[test]
fn a_kernel_server_has_cells_for_kernels_only() {
    let run = checked(&json!({"name": "hare", "preset": "kernel-v8"})).unwrap();
    let cells = cells_of(&run.spec);
    assert!(!cells.is_empty());
    assert!(cells.iter().all(|cell| cell.workload == "product"));
}

/// What a run whose variant has this many threads does where the only node has so many CPUs.
fn planned(threads: u32, cpus: Option<u32>) -> Plan {
    let variant = json!({"name": "hare", "preset": "kernel-gcc", "engine": {"threads": threads}});
    let run = checked(&variant).unwrap();
    let mut node = common::node("bench-1");
    node.cpus = cpus;
    let observed = Observed {
        nodes: vec![node],
        demands: common::demands(&run),
        ..Observed::default()
    };
    plan(
        &run,
        &common::in_turn(&run, &observed),
        Timestamp::UNIX_EPOCH,
    )
}

#[test]
fn threads_need_a_node_with_as_many_cpus_and_the_run_says_so() {
    let Stage::NoNode { message } = planned(4, Some(2)).stage else {
        panic!("it has a node");
    };
    let expected = "no node has 4 CPUs (engine.threads of variant hare)";
    assert!(message.contains(expected), "{message}");
}

#[test]
fn a_node_with_enough_cpus_or_an_unknown_number_of_them_is_measured() {
    for (threads, cpus) in [(4, Some(4)), (2, Some(2)), (1, Some(1)), (4, None)] {
        let steps = planned(threads, cpus).steps;
        let is_claimed = matches!(steps[..], [Step::ClaimNode { .. }]);
        assert!(is_claimed, "{threads} threads on {cpus:?} CPUs: {steps:?}");
    }
}
