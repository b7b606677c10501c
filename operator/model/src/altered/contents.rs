//! What a pod runs and where, apart from resources: the desired and the found pod -> the
//! differences, for people.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, PodSpec};

use crate::containers;

type Names = BTreeSet<String>;

/// Each difference as text that follows "it is not as requested:".
pub fn differences(desired: &PodSpec, found: &PodSpec) -> Vec<String> {
    let mut all = pod_differences(desired, found);
    let containers = |spec: &PodSpec| -> Names { spec.containers.iter().map(name_of).collect() };
    all.extend(name_differences(
        "container",
        &containers(desired),
        &containers(found),
    ));
    let initial = |spec: &PodSpec| -> Names {
        let all = spec.init_containers.iter().flatten();
        all.map(name_of).collect()
    };
    all.extend(name_differences(
        "init container",
        &initial(desired),
        &initial(found),
    ));
    let visitors = found
        .ephemeral_containers
        .iter()
        .flatten()
        .map(|one| one.name.clone())
        .collect();
    all.extend(name_differences(
        "ephemeral container",
        &Names::new(),
        &visitors,
    ));
    for container in &desired.containers {
        if let Some(there) = containers::named(found, &container.name) {
            all.extend(container_differences(container, there));
        }
    }
    all
}

fn name_of(container: &Container) -> String {
    container.name.clone()
}

fn pod_differences(desired: &PodSpec, found: &PodSpec) -> Vec<String> {
    let mut all = vec![];
    if let (Some(desired), Some(is)) = (node(desired), found.node_name.as_deref())
        && desired != is
    {
        all.push(format!("it is on node {is} instead of {desired}"));
    }
    let shared = |spec: &PodSpec| spec.host_network.unwrap_or_default();
    match (shared(desired), shared(found)) {
        (true, false) => all.push("it has its own network instead of the node's".to_owned()),
        (false, true) => all.push("it has the node's network instead of its own".to_owned()),
        (true, true) | (false, false) => {}
    }
    let class = |spec: &PodSpec| spec.runtime_class_name.clone().unwrap_or_default();
    let (was, is) = (class(desired), class(found));
    if was != is {
        let quoted = |name: &str| match name {
            "" => "none".to_owned(),
            name => format!("'{name}'"),
        };
        all.push(format!(
            "its RuntimeClass is {} instead of {}",
            quoted(&is),
            quoted(&was)
        ));
    }
    all
}

/// The node that a desired pod requests.
fn node(desired: &PodSpec) -> Option<&str> {
    let affinity = desired.affinity.as_ref()?.node_affinity.as_ref()?;
    let required = affinity
        .required_during_scheduling_ignored_during_execution
        .as_ref()?;
    let fields = required
        .node_selector_terms
        .first()?
        .match_fields
        .as_ref()?;
    Some(fields.first()?.values.as_ref()?.first()?.as_str())
}

fn container_differences(desired: &Container, found: &Container) -> Vec<String> {
    let mut all = vec![];
    if desired.image != found.image {
        let image = |one: &Container| one.image.clone().unwrap_or_default();
        all.push(format!(
            "its image is {} instead of {}",
            image(found),
            image(desired)
        ));
    }
    if desired.command.as_deref().unwrap_or_default()
        != found.command.as_deref().unwrap_or_default()
    {
        all.push("its command differs".to_owned());
    }
    if desired.args.as_deref().unwrap_or_default() != found.args.as_deref().unwrap_or_default() {
        all.push("its arguments differ".to_owned());
    }
    // Only names: a value may be a secret.
    let variables = |one: &Container| -> Names {
        let all = one.env.iter().flatten();
        all.map(|variable| variable.name.clone()).collect()
    };
    let kind = "environment variable";
    all.extend(name_differences(
        kind,
        &variables(desired),
        &variables(found),
    ));
    let sources = |one: &Container| one.env_from.as_ref().map_or(0, Vec::len);
    if sources(desired) != sources(found) {
        all.push("its environment comes from a ConfigMap or Secret, too".to_owned());
    }
    all
}

/// Which names of a kind were added and which are missing.
fn name_differences(kind: &str, desired: &Names, found: &Names) -> Vec<String> {
    let added = found
        .difference(desired)
        .map(|name| format!("the {kind} '{name}' was added"));
    let missing = desired
        .difference(found)
        .map(|name| format!("the {kind} '{name}' is missing"));
    added.chain(missing).collect()
}
