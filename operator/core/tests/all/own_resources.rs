//! Variants with resources of their own: which pods get them, and what is refused.

use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};
use wasmbench_api::run::TWIN;
use wasmbench_core::build::subject_pod::{cold_subject, desired_subject, floor_subject};
use wasmbench_core::demands;
use wasmbench_core::subject::floor;
use wasmbench_core::validate::{ValidatedRun, validate};
use wasmbench_model::wire::record::{Cell, Point, TrialId};

use crate::common;

/// The run of the fixtures with these resources for all variants, and with these for `hare`.
fn run_with(common: &Value, hare: &Value) -> wasmbench_api::BenchmarkRun {
    let mut run = common::parse(common::RUN);
    run.spec.resources = serde_json::from_value(common.clone()).unwrap();
    run.spec.variants[1].resources = serde_json::from_value(hare.clone()).unwrap();
    run
}

fn validated(common: &Value, hare: &Value) -> ValidatedRun {
    validate(&run_with(common, hare), &common::config()).unwrap()
}

fn trial(variant: &str) -> TrialId {
    let cell = Cell {
        variant: variant.into(),
        workload: "greet".into(),
        point: Point::WarmLatency,
    };
    TrialId { cell, block: 2 }
}

fn resources(pod: &Pod) -> Value {
    let containers = &pod.spec.as_ref().unwrap().containers;
    serde_json::to_value(&containers[0].resources).unwrap()
}

fn of_subject(run: &ValidatedRun, variant: &str) -> Value {
    resources(&desired_subject(run, &trial(variant), "bench-1").unwrap())
}

const COMMON: &str =
    r#"{"requests": {"cpu": "250m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}}"#;

fn common_resources() -> Value {
    serde_json::from_str(COMMON).unwrap()
}

#[test]
fn pods_of_a_variant_have_its_resources_and_pods_of_the_others_those_of_the_run() {
    let run = validated(&common_resources(), &json!({"limits": {"cpu": "100m"}}));
    // The API server requests what is limited.
    let hares =
        json!({"requests": {"memory": "64Mi"}, "limits": {"cpu": "100m", "memory": "512Mi"}});
    assert_eq!(of_subject(&run, "hare"), hares);
    for (variant, why) in [("tortoise", "a preset"), ("mine", "an own container")] {
        assert_eq!(of_subject(&run, variant), common_resources(), "{why}");
    }
    let variant = run.variant(&trial("hare")).unwrap();
    let cold = cold_subject(&run, variant, &trial("hare"), "bench-1", None);
    assert_eq!(resources(&cold), hares, "cold starts and density");
}

#[test]
fn an_own_containers_pods_have_the_resources_of_their_variant() {
    let mut run = run_with(&Value::Null, &Value::Null);
    let own = json!({"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}});
    run.spec.variants[2].resources = serde_json::from_value(own.clone()).unwrap();
    let run = validate(&run, &common::config()).unwrap();
    assert_eq!(of_subject(&run, "mine"), own);
}

#[test]
fn resources_that_neither_the_variant_nor_the_run_names_have_their_defaults() {
    let run = validated(&Value::Null, &json!({"limits": {"cpu": "2"}}));
    let defaults =
        json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "512Mi"}});
    assert_eq!(of_subject(&run, "tortoise"), defaults);
    let hares = json!({"requests": {"memory": "64Mi"}, "limits": {"cpu": "2", "memory": "512Mi"}});
    assert_eq!(of_subject(&run, "hare"), hares);
}

#[test]
fn the_harness_floor_has_the_resources_of_the_run() {
    let run = validated(&common_resources(), &json!({"limits": {"cpu": "100m"}}));
    let floor = floor(&common::config().images);
    let pod = floor_subject(&run, floor, &trial("hare"), "bench-1");
    assert_eq!(resources(&pod), common_resources());
}

#[test]
fn the_twin_has_the_resources_of_the_baseline() {
    let mut run = run_with(&Value::Null, &Value::Null);
    run.spec.noise_floor = Some(true);
    let own = json!({"limits": {"cpu": "500m", "memory": "128Mi"}});
    run.spec.variants[0].resources = serde_json::from_value(own.clone()).unwrap();
    let run = validate(&run, &common::config()).unwrap();
    assert_eq!(of_subject(&run, TWIN), of_subject(&run, "tortoise"));
    assert_eq!(of_subject(&run, TWIN)["limits"], own["limits"]);
}

#[test]
fn invalid_resources_are_refused_with_the_field_of_their_variant() {
    for (resources, field) in [
        (json!({"limits": {"cpu": "one"}}), "limits.cpu"),
        (json!({"limits": {"memory": "512"}}), "limits.memory"),
        (
            json!({"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
            "requests.cpu",
        ),
        (
            json!({"requests": {"memory": "1Gi"}, "limits": {"memory": "1G"}}),
            "requests.memory",
        ),
    ] {
        let run = run_with(&common_resources(), &resources);
        let invalid = validate(&run, &common::config()).unwrap_err();
        assert_eq!(invalid.field, format!("spec.variants[1].resources.{field}"));
    }
}

#[test]
fn a_node_needs_more_cpus_than_the_largest_request_and_one_is_always_enough_for_a_part() {
    let demanded = |hare: &Value| {
        let run = validated(&Value::Null, hare);
        demands::cpus(&run.spec).map(|demand| (demand.cpus, demand.by))
    };
    assert_eq!(demanded(&Value::Null), None);
    assert_eq!(demanded(&json!({"limits": {"cpu": "999m"}})), None);
    let two = Some((3, "variant hare requests 2 CPU".to_owned()));
    assert_eq!(demanded(&json!({"limits": {"cpu": "2"}})), two);
    assert_eq!(
        demanded(&json!({"requests": {"cpu": "100m"}, "limits": {"cpu": "2"}})),
        None,
        "a limit above the request needs no room"
    );
}
