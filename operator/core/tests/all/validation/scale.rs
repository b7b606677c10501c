//! What a run may scale.

use wasmbench_api::BenchmarkRun;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::validate::{Invalid, validate};

use crate::common;

/// A run whose second variant is this, as YAML.
fn run(variant: &str) -> BenchmarkRun {
    let mut run = common::parse(common::RUN);
    run.spec.variants.truncate(1);
    run.spec
        .variants
        .push(serde_yaml::from_str(variant).unwrap());
    run.spec.workloads.truncate(1);
    run
}

fn refused(variant: &str, config: &OperatorConfig) -> Invalid {
    validate(&run(variant), config).unwrap_err()
}

const SHOP: &str = "{name: shop, scale: {resource: deployments, name: shop}}";

#[test]
fn only_kinds_and_namespaces_that_the_administrator_lists_are_scaled() {
    let config = common::scaling_config();
    let valid = validate(&run(SHOP), &config).unwrap();
    let target = valid.variants[1].subject.target.as_ref().unwrap();
    assert_eq!(target.to_string(), "deployments.apps/shop");
    let other = refused(
        "{name: shop, scale: {resource: daemonsets, name: shop}}",
        &config,
    );
    assert_eq!(other.field, "spec.variants[1].scale.resource");
    assert!(other.message.contains("statefulsets.apps"), "{other}");
    let mut elsewhere = config.clone();
    elsewhere.scale.namespaces = vec!["team-b".into()];
    let invalid = refused(SHOP, &elsewhere);
    assert_eq!(invalid.field, "spec.variants[1].scale");
    assert!(invalid.message.contains("scale.namespaces"), "{invalid}");
    // Nothing is listed by default.
    assert!(validate(&run(SHOP), &common::config()).is_err());
}

#[test]
fn a_field_that_only_the_runs_own_pods_can_have_is_refused_and_named() {
    let config = common::scaling_config();
    for (variant, field) in [
        (
            "{name: shop, preset: native, scale: {resource: deployments, name: shop}}",
            "spec.variants[1]",
        ),
        (
            "{name: shop, scale: {resource: deployments, name: shop, scheme: GRPC}}",
            "spec.variants[1].scale.scheme",
        ),
        (
            "{name: shop, scale: {resource: deployments, name: shop}, resources: {limits: {cpu: '1'}}}",
            "spec.variants[1].resources",
        ),
    ] {
        assert_eq!(refused(variant, &config).field, field);
    }
}

#[test]
fn starts_of_scaled_objects_are_a_class_of_their_own() {
    let config = common::scaling_config();
    for (variants, class, is_valid) in [
        (2, "Scaled", false),
        (2, "ImageCached", false),
        (1, "Scaled", true),
        (1, "ImageCached", false),
    ] {
        let mut run = run(SHOP);
        run.spec.variants.reverse();
        run.spec.variants.truncate(variants);
        run.spec.baseline = None;
        let sweeps = format!("coldStart: {{samples: 3, class: {class}}}");
        run.spec.sweeps = serde_yaml::from_str(&sweeps).unwrap();
        let checked = validate(&run, &config);
        assert_eq!(checked.is_ok(), is_valid, "{variants} {class}: {checked:?}");
    }
}

/// The chart's policy refuses to scale to more.
#[test]
fn no_more_concurrent_starts_are_scaled_to_than_density_may_have() {
    let with_limit = |instances: u32| {
        let mut run = run(SHOP);
        run.spec.variants.remove(0);
        run.spec.baseline = None;
        let sweeps = "coldStart: {samples: 3, concurrency: [1, 32], class: Scaled}";
        run.spec.sweeps = serde_yaml::from_str(sweeps).unwrap();
        let mut config = common::scaling_config();
        config.limits.density_instances = instances;
        validate(&run, &config)
    };
    assert!(with_limit(32).is_ok());
    let invalid = with_limit(10).unwrap_err();
    assert_eq!(invalid.field, "spec.sweeps.coldStart.concurrency");
    assert!(invalid.message.contains("allows 10"), "{invalid}");
}
