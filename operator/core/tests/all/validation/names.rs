//! Names, and what the user's own container may specify.

use wasmbench_core::validate::validate;

use super::refused;
use crate::common;

#[test]
fn a_baseline_that_is_not_a_variant_is_refused() {
    let invalid = refused(|run| run.spec.baseline = Some("achilles".into()));
    assert_eq!(invalid.field, "spec.baseline");
    assert!(invalid.message.contains("achilles"), "{invalid}");
}

#[test]
fn a_baseline_run_must_be_another_run_in_the_namespace() {
    for name in ["other/before", "-before", "Before", ""] {
        let invalid = refused(|run| run.spec.baseline_run_name = Some(name.into()));
        assert_eq!(invalid.field, "spec.baselineRunName", "{name}");
    }
    let itself = refused(|run| run.spec.baseline_run_name = run.metadata.name.clone());
    assert!(itself.message.contains("with itself"), "{itself}");
    let mut run = common::parse(common::RUN);
    run.spec.baseline_run_name = Some("before.2".into());
    assert!(validate(&run, &common::config()).is_ok());
}

#[test]
fn duplicate_names_are_refused() {
    let invalid = refused(|run| run.spec.variants[1].name = "tortoise".into());
    assert_eq!(invalid.field, "spec.variants.name");
}

#[test]
fn names_that_are_not_dns_labels_are_refused() {
    let invalid = refused(|run| run.spec.workloads[0].name = "../../etc".into());
    assert_eq!(invalid.field, "spec.workloads.name");
}

#[test]
fn users_containers_are_refused_where_not_allowed() {
    let mut config = common::config();
    config.limits.own_containers = false;
    let invalid = validate(&common::parse(common::RUN), &config).unwrap_err();
    assert_eq!(invalid.field, "spec.variants[2].container");
}

#[test]
fn a_variant_cannot_be_named_like_the_twin() {
    let mut run = common::parse(common::RUN);
    run.spec.variants[1].name = "baseline-twin".into();
    let refused = validate(&run, &common::config()).unwrap_err();
    assert!(refused.message.contains("choose another name"), "{refused}");
}

#[test]
fn invalid_pod_fields_are_refused_before_the_api_server_does() {
    use wasmbench_api::run::TolerationOperator::Exists;
    use wasmbench_api::run::{CpuAndMemory, Placement, SubjectResources, Toleration};
    let amounts = |cpu: &str, memory: &str| {
        let (cpu, memory) = (Some(cpu.to_owned()), Some(memory.to_owned()));
        Some(CpuAndMemory { cpu, memory })
    };
    let with = |requests, limits| {
        refused(move |run| {
            let (requests, limits): (Option<CpuAndMemory>, _) =
                (Clone::clone(&requests), Clone::clone(&limits));
            run.spec.resources = Some(SubjectResources { requests, limits });
        })
        .field
    };
    let cpu = with(amounts("1500m", "1Mi"), amounts("1", "1Mi"));
    assert_eq!(cpu, "spec.resources.requests.cpu");
    let memory = with(amounts("1", "1Gi"), amounts("1", "1G"));
    assert_eq!(memory, "spec.resources.requests.memory");
    assert_eq!(
        with(None, amounts("1", "0")),
        "spec.resources.limits.memory"
    );
    assert_eq!(
        with(None, amounts("1", "512")),
        "spec.resources.limits.memory"
    );

    let selector = |key: &str, value: &str| {
        let node_selector = [(key.to_owned(), value.to_owned())].into();
        refused(move |run| {
            let node_selector = Clone::clone(&node_selector);
            run.spec.placement = Some(Placement {
                node_selector,
                ..Placement::default()
            });
        })
        .field
    };
    assert_eq!(selector("a/b/c", "x"), "spec.placement.nodeSelector");
    assert_eq!(
        selector("disk", "fast disk"),
        "spec.placement.nodeSelector.disk"
    );

    let toleration = |toleration: Toleration| {
        refused(move |run| {
            let tolerations = vec![toleration.clone()];
            run.spec.placement = Some(Placement {
                tolerations,
                ..Placement::default()
            });
        })
        .field
    };
    let (key, value) = (Some("bench".to_owned()), Some("yes".to_owned()));
    let exists = Toleration {
        key,
        value,
        operator: Some(Exists),
        effect: None,
    };
    assert_eq!(toleration(exists), "spec.placement.tolerations[0].value");
    assert_eq!(
        toleration(Toleration::default()),
        "spec.placement.tolerations[0].key"
    );

    let invalid = refused(|run| {
        let own = run.spec.variants[2].container.as_mut().unwrap();
        own.image = "https://registry.example.com/service:1".into();
    });
    assert_eq!(invalid.field, "spec.variants[2].container.image");
}
