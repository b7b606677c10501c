//! Cold starts, and the network of the node.

use wasmbench_api::BenchmarkRun;
use wasmbench_api::run::Network;
use wasmbench_core::config::OperatorConfig;
use wasmbench_core::validate::{Invalid, validate};
use wasmbench_model::images::Images;

use super::cold_refused;
use crate::common;

#[test]
fn more_concurrent_pods_than_allowed_are_refused() {
    let invalid = cold_refused(|_, config| config.limits.cold_start_concurrency = 3);
    assert_eq!(invalid.field, "spec.sweeps.coldStart.concurrency");
    assert!(invalid.message.contains("4 pods"), "{invalid}");
}

#[test]
fn host_network_needs_permission_and_allows_one_pod_at_a_time() {
    let on_host = |run: &mut BenchmarkRun| {
        run.spec.placement.get_or_insert_default().network = Network::Host;
    };
    let invalid = cold_refused(|run, _| on_host(run));
    assert_eq!(invalid.field, "spec.placement.network");
    assert!(invalid.message.contains("hostNetwork.enabled"), "{invalid}");
    let invalid = cold_refused(|run, config| {
        on_host(run);
        config.host_network = true;
    });
    assert_eq!(invalid.field, "spec.sweeps.coldStart.concurrency");
}

#[test]
fn the_crds_rules_on_cold_starts_are_checked_again() {
    use wasmbench_api::cold_start::ColdStart;
    let field = |change: fn(&mut ColdStart)| {
        cold_refused(|run, _| change(run.spec.sweeps.cold_start.as_mut().unwrap())).field
    };
    let (samples, concurrency) = (
        "spec.sweeps.coldStart.samples",
        "spec.sweeps.coldStart.concurrency",
    );
    assert_eq!(field(|sweep| sweep.samples = 0), samples);
    assert_eq!(field(|sweep| sweep.samples = 251), samples);
    assert_eq!(field(|sweep| sweep.concurrency = vec![]), concurrency);
    assert_eq!(field(|sweep| sweep.concurrency = vec![2, 2]), concurrency);
}

#[test]
fn the_class_compile_cached_needs_containerds_socket() {
    use wasmbench_api::cold_start::ColdStartClass;
    let compiled = |run: &mut BenchmarkRun| {
        let sweep = run.spec.sweeps.cold_start.as_mut().unwrap();
        sweep.class = ColdStartClass::CompileCached;
    };
    let invalid = cold_refused(|run, _| compiled(run));
    assert_eq!(invalid.field, "spec.sweeps.coldStart.class");
    assert!(invalid.message.contains("meter.level"), "{invalid}");
    let mut run = common::cold();
    compiled(&mut run);
    let mut config = common::config();
    config.containerd_socket = Some("/run/containerd/containerd.sock".into());
    assert_eq!(validate(&run, &config).err(), None);
}

/// Why a run of the class `NodeCold` is refused after this change; `None` if it is valid.
fn node_cold_refusal(change: impl Fn(&mut BenchmarkRun, &mut OperatorConfig)) -> Option<Invalid> {
    let (mut run, mut config) = (common::cold(), common::config());
    config.containerd_socket = Some("/run/containerd/containerd.sock".into());
    let sweep = run.spec.sweeps.cold_start.as_mut().unwrap();
    sweep.class = wasmbench_api::cold_start::ColdStartClass::NodeCold;
    change(&mut run, &mut config);
    validate(&run, &config).err()
}

#[test]
fn the_class_node_cold_needs_containerds_socket() {
    assert_eq!(node_cold_refusal(|_, _| ()), None);
    let invalid = node_cold_refusal(|_, config| config.containerd_socket = None).unwrap();
    assert_eq!(invalid.field, "spec.sweeps.coldStart.class");
    assert!(invalid.message.contains("meter.level"), "{invalid}");
}

#[test]
fn the_class_node_cold_needs_images_that_can_be_pulled() {
    let invalid = node_cold_refusal(|run, _| {
        let own = run.spec.variants[2].container.as_mut().unwrap();
        own.image = "localhost/team/mine:1".into();
    });
    let invalid = invalid.unwrap();
    assert_eq!(invalid.field, "spec.variants[2].container.image");
    assert!(invalid.message.contains("ImageCached"), "{invalid}");
    let invalid = node_cold_refusal(|_, config| {
        config.images = Images::in_registry("localhost", "1");
    });
    let invalid = invalid.unwrap();
    assert_eq!(invalid.field, "spec.variants[0].preset");
    assert!(invalid.message.contains("image.registry"), "{invalid}");
    let invalid = node_cold_refusal(|_, config| config.images.pull_policy = "Never".into());
    assert!(invalid.unwrap().message.contains("pullPolicy"));
    // A registry on the node itself counts as one.
    let registry = node_cold_refusal(|run, _| {
        let own = run.spec.variants[2].container.as_mut().unwrap();
        own.image = "localhost:5000/mine:1".into();
    });
    assert_eq!(registry, None);
}

#[test]
fn a_container_too_large_for_the_request_of_a_cold_start_is_refused() {
    let invalid = cold_refused(|run, _| {
        let own = run.spec.variants[2].container.as_mut().unwrap();
        own.args = vec!["x".repeat(50 * 1024)];
    });
    assert_eq!(invalid.field, "spec.variants[2].container");
}
