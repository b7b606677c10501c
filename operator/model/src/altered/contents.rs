//! What a pod runs and where, apart from resources: what was asked for and what is there -> the
//! differences, for people.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{Container, PodSpec};

use crate::containers;

type Names = BTreeSet<String>;

/// Each difference as words that follow "it is not what was asked for:".
pub fn differences(asked: &PodSpec, found: &PodSpec) -> Vec<String> {
    let mut all = of_pod(asked, found);
    let containers = |spec: &PodSpec| -> Names { spec.containers.iter().map(named).collect() };
    all.extend(names("container", &containers(asked), &containers(found)));
    let initial = |spec: &PodSpec| -> Names {
        let all = spec.init_containers.iter().flatten();
        all.map(named).collect()
    };
    all.extend(names("init container", &initial(asked), &initial(found)));
    let visitors = found
        .ephemeral_containers
        .iter()
        .flatten()
        .map(|one| one.name.clone())
        .collect();
    all.extend(names("ephemeral container", &Names::new(), &visitors));
    for container in &asked.containers {
        if let Some(there) = containers::named(found, &container.name) {
            all.extend(of_container(container, there));
        }
    }
    all
}

fn named(container: &Container) -> String {
    container.name.clone()
}

fn of_pod(asked: &PodSpec, found: &PodSpec) -> Vec<String> {
    let mut all = vec![];
    if let (Some(asked), Some(is)) = (node(asked), found.node_name.as_deref())
        && asked != is
    {
        all.push(format!("it is on node {is} instead of {asked}"));
    }
    let shared = |spec: &PodSpec| spec.host_network.unwrap_or_default();
    match (shared(asked), shared(found)) {
        (true, false) => all.push("it has its own network instead of the node's".to_owned()),
        (false, true) => all.push("it has the node's network instead of its own".to_owned()),
        (true, true) | (false, false) => {}
    }
    let class = |spec: &PodSpec| spec.runtime_class_name.clone().unwrap_or_default();
    let (was, is) = (class(asked), class(found));
    if was != is {
        let word = |name: &str| match name {
            "" => "none".to_owned(),
            name => format!("'{name}'"),
        };
        all.push(format!(
            "its RuntimeClass is {} instead of {}",
            word(&is),
            word(&was)
        ));
    }
    all
}

/// The node that a pod of ours asks for.
fn node(asked: &PodSpec) -> Option<&str> {
    let affinity = asked.affinity.as_ref()?.node_affinity.as_ref()?;
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

fn of_container(asked: &Container, found: &Container) -> Vec<String> {
    let mut all = vec![];
    if asked.image != found.image {
        let image = |one: &Container| one.image.clone().unwrap_or_default();
        all.push(format!(
            "its image is {} instead of {}",
            image(found),
            image(asked)
        ));
    }
    if asked.command.as_deref().unwrap_or_default() != found.command.as_deref().unwrap_or_default()
    {
        all.push("its command is another".to_owned());
    }
    if asked.args.as_deref().unwrap_or_default() != found.args.as_deref().unwrap_or_default() {
        all.push("its arguments are others".to_owned());
    }
    // Names alone: a value may be a secret.
    let variables = |one: &Container| -> Names {
        let all = one.env.iter().flatten();
        all.map(|variable| variable.name.clone()).collect()
    };
    let kind = "environment variable";
    all.extend(names(kind, &variables(asked), &variables(found)));
    let sources = |one: &Container| one.env_from.as_ref().map_or(0, Vec::len);
    if sources(asked) != sources(found) {
        all.push("its environment comes from a ConfigMap or Secret, too".to_owned());
    }
    all
}

/// Which names of a kind were added and which are missing.
fn names(kind: &str, asked: &Names, found: &Names) -> Vec<String> {
    let added = found
        .difference(asked)
        .map(|name| format!("the {kind} '{name}' was added"));
    let missing = asked
        .difference(found)
        .map(|name| format!("the {kind} '{name}' is missing"));
    added.chain(missing).collect()
}
