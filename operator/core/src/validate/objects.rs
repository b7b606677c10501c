//! What the API server or the kubelet would refuse in a pod of the run: reported at once, with its
//! field, before any trial fails because of it.

use std::collections::BTreeMap;

use wasmbench_api::run::{
    BenchmarkRunSpec, CpuAndMemory, OwnContainer, PROBE_USER, Placement, SCHEME_MESSAGE,
    SubjectResources, Toleration, TolerationOperator,
};

use crate::validate::{Invalid, invalid};
use wasmbench_api::quantity::thousandths;

/// No container starts with less memory than this, in thousandths of a byte.
const LEAST_MEMORY: u128 = 1000 << 20;
/// Longest domain of a label's key.
const DOMAIN: usize = 253;
/// Longest name in a label's key, and longest value.
const NAME: usize = 63;

/// Checks resources, own containers, companions and placement.
pub(super) fn check(spec: &BenchmarkRunSpec) -> Result<(), Invalid> {
    if let Some(resources) = &spec.resources {
        check_resources("spec.resources", resources)?;
    }
    for (index, variant) in spec.variants.iter().enumerate() {
        if let Some(resources) = &variant.resources {
            check_resources(&format!("spec.variants[{index}].resources"), resources)?;
        }
        if let Some(own) = &variant.container {
            check_container(&format!("spec.variants[{index}].container"), own)?;
        }
    }
    if let Some(companions) = &spec.companions {
        check_labels("spec.companions.matchLabels", &companions.match_labels)?;
    }
    spec.placement.as_ref().map_or(Ok(()), check_placement)
}

fn check_container(field: &str, own: &OwnContainer) -> Result<(), Invalid> {
    if own.image.contains("://") {
        return Err(invalid(
            format!("{field}.image"),
            "an image is a reference, not a URL: write it without https://, such as \
             registry.example.com/team/service:1.0",
        ));
    }
    if !own.scheme.is_spoken() {
        return Err(invalid(format!("{field}.scheme"), SCHEME_MESSAGE));
    }
    for (name, number) in [
        ("runAsUser", own.run_as_user),
        ("runAsGroup", own.run_as_group),
    ] {
        let field = format!("{field}.{name}");
        match number {
            Some(..1) => {
                return Err(invalid(
                    field,
                    "a service does not run as root: write the number of another user, 1 or more",
                ));
            }
            Some(PROBE_USER) => {
                return Err(invalid(
                    field,
                    "that is the number of wasmbench's probes, which see all processes of a node: choose another",
                ));
            }
            Some(_) | None => {}
        }
    }
    Ok(())
}

fn check_resources(field: &str, resources: &SubjectResources) -> Result<(), Invalid> {
    let none = CpuAndMemory::default();
    let requests = resources.requests.as_ref().unwrap_or(&none);
    let limits = resources.limits.as_ref().unwrap_or(&none);
    for (name, request, limit) in [
        ("cpu", &requests.cpu, &limits.cpu),
        ("memory", &requests.memory, &limits.memory),
    ] {
        let request = amount(&format!("{field}.requests.{name}"), request.as_ref())?;
        let limit = amount(&format!("{field}.limits.{name}"), limit.as_ref())?;
        if request
            .zip(limit)
            .is_some_and(|(request, limit)| request > limit)
        {
            return Err(invalid(
                format!("{field}.requests.{name}"),
                "is more than the limit: lower the request or raise the limit",
            ));
        }
    }
    let field = format!("{field}.limits.memory");
    match amount(&field, limits.memory.as_ref())? {
        Some(memory) if memory < LEAST_MEMORY => Err(invalid(
            field,
            "is less than 1Mi, in which nothing runs: write an amount with its unit, such as 64Mi, \
             or leave it out",
        )),
        _ => Ok(()),
    }
}

/// An amount in thousandths of its unit.
fn amount(field: &str, text: Option<&String>) -> Result<Option<u128>, Invalid> {
    let Some(text) = text else { return Ok(None) };
    let wrong = || {
        let message = format!(
            "'{text}' is not an amount: write it as Kubernetes does, like 500m, 0.5, 256Mi or 1.5Gi"
        );
        invalid(field, message)
    };
    thousandths(text).map(Some).ok_or_else(wrong)
}

fn check_placement(placement: &Placement) -> Result<(), Invalid> {
    check_labels("spec.placement.nodeSelector", &placement.node_selector)?;
    let mut tolerations = placement.tolerations.iter().enumerate();
    tolerations.try_for_each(|(index, toleration)| {
        check_toleration(&format!("spec.placement.tolerations[{index}]"), toleration)
    })
}

fn check_labels(field: &str, labels: &BTreeMap<String, String>) -> Result<(), Invalid> {
    for (key, value) in labels {
        if !is_key(key) {
            return Err(invalid(field, invalid_key(key)));
        }
        if !is_value(value) {
            return Err(invalid(format!("{field}.{key}"), invalid_value(value)));
        }
    }
    Ok(())
}

fn check_toleration(field: &str, toleration: &Toleration) -> Result<(), Invalid> {
    let key = toleration.key.as_deref().unwrap_or_default();
    let value = toleration.value.as_deref().unwrap_or_default();
    let exists = toleration.operator == Some(TolerationOperator::Exists);
    if !key.is_empty() && !is_key(key) {
        return Err(invalid(format!("{field}.key"), invalid_key(key)));
    }
    if !is_value(value) {
        return Err(invalid(format!("{field}.value"), invalid_value(value)));
    }
    if exists && !value.is_empty() {
        return Err(invalid(
            format!("{field}.value"),
            "the operator Exists takes no value: remove it, or set operator to Equal",
        ));
    }
    if key.is_empty() && !exists {
        return Err(invalid(
            format!("{field}.key"),
            "without a key every taint is tolerated: say so with operator: Exists, or set key",
        ));
    }
    Ok(())
}

fn invalid_key(key: &str) -> String {
    format!(
        "'{key}' cannot be the key of a label or taint: write it like disk or example.com/disk, \
         with letters, digits, '-', '_' and '.'"
    )
}

fn invalid_value(value: &str) -> String {
    format!(
        "'{value}' cannot be the value of a label or taint: use at most 63 letters, digits, '-', \
         '_' and '.', with a letter or digit at both ends"
    )
}

fn is_key(key: &str) -> bool {
    let (domain, name) = match key.split_once('/') {
        Some((domain, name)) => (Some(domain), name),
        None => (None, key),
    };
    let lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let is_domain = |text: &str| {
        text.len() <= DOMAIN
            && text.chars().all(lower)
            && has_alphanumeric_ends(text)
            && !text.is_empty()
    };
    domain.is_none_or(is_domain) && !name.is_empty() && is_value(name)
}

fn is_value(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.len() <= NAME && text.chars().all(inner) && has_alphanumeric_ends(text)
}

fn has_alphanumeric_ends(text: &str) -> bool {
    let alphanumeric = |c: char| c.is_ascii_alphanumeric();
    !text.starts_with(|c| !alphanumeric(c)) && !text.ends_with(|c| !alphanumeric(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_values_follow_the_rules_of_kubernetes() {
        for key in ["disk", "kubernetes.io/hostname", "example.com/My_Disk.1"] {
            assert!(is_key(key), "{key}");
        }
        for key in [
            "",
            "a/b/c",
            "/disk",
            "example.com/",
            "Example.com/disk",
            "-disk",
            "a b",
        ] {
            assert!(!is_key(key), "{key}");
        }
        assert!(is_value("") && is_value("bench-1") && is_value(&"x".repeat(63)));
        assert!(!is_value("fast disk") && !is_value("-x") && !is_value(&"x".repeat(64)));
    }
}
