//! Which presets this cluster can measure, and on which of its nodes. Pure.

use std::collections::BTreeMap;

use strum::IntoEnumIterator as _;
use wasmbench_api::run::{Preset, Variant};
use wasmbench_core::subject::{SubjectSpec, subject};

use crate::assumed;
use crate::check::finding::{Finding, State};
use crate::check::observed::{ObservedInstallation, ObservedNode, ObservedRuntimeClass};

/// The number of nodes listed by name; further ones are only counted.
const MAX_NAMED: usize = 4;

/// One finding for the presets that need no `RuntimeClass`, one for each `RuntimeClass` that others
/// need, and one for each preset that a setting forbids.
pub fn presets(observed: &ObservedInstallation) -> Vec<Finding> {
    let config = observed
        .config
        .clone()
        .unwrap_or_else(|_| assumed::config());
    let all =
        Preset::iter().filter_map(|preset| Some((preset, subject(&variant(preset), &config)?)));
    let (mut by_class, mut free, mut forbidden) = (BTreeMap::new(), vec![], vec![]);
    for (preset, subject) in all {
        let name: &'static str = preset.into();
        let SubjectSpec {
            runtime_class,
            not_allowed,
            ..
        } = subject;
        match (runtime_class, not_allowed) {
            (_, Some(why)) => forbidden.push(Finding::new(
                &format!("preset {name}"),
                State::Skipped,
                "not allowed".into(),
                why,
            )),
            (Some(class), None) => by_class.entry(class).or_insert_with(Vec::new).push(name),
            (None, None) => free.push(name),
        }
    }
    let free = Finding::ok(
        "presets",
        format!("{} of them need no RuntimeClass", free.len()),
    );
    let classes = by_class.iter().map(|(class, names)| {
        runtime_class(
            observed,
            class,
            &names.join(", "),
            &config.limits.node_selector,
        )
    });
    std::iter::once(free)
        .chain(classes)
        .chain(forbidden)
        .collect()
}

fn variant(preset: Preset) -> Variant {
    Variant {
        name: String::new(),
        preset: Some(preset),
        engine: None,
        container: None,
        scale: None,
        resources: None,
    }
}

fn runtime_class(
    observed: &ObservedInstallation,
    class: &str,
    presets: &str,
    allowed: &BTreeMap<String, String>,
) -> Finding {
    let what = format!("RuntimeClass {class}");
    let unknown = |why: &String| {
        let remedy = "ask an administrator to check";
        Finding::new(&what, State::Unknown, format!("{presets}: {why}"), remedy)
    };
    let classes = match &observed.runtime_classes {
        Ok(classes) => classes,
        Err(why) => return unknown(why),
    };
    let Some(found) = classes.get(class) else {
        let remedy = "install the shim and its RuntimeClass (docs/wasm-services.md), or name yours in runtimeClasses of the chart";
        let found = format!("{presets}: there is none");
        return Finding::new(&what, State::Skipped, found, remedy);
    };
    match &observed.nodes {
        Ok(nodes) => {
            let nodes = nodes
                .iter()
                .filter(|node| node.has(&found.node_selector) && node.has(allowed));
            on_nodes(&what, presets, found, &nodes.collect::<Vec<_>>())
        }
        Err(why) => unknown(why),
    }
}

fn on_nodes(
    what: &str,
    presets: &str,
    class: &ObservedRuntimeClass,
    nodes: &[&ObservedNode],
) -> Finding {
    let handler = &class.handler;
    if nodes.is_empty() {
        let remedy = "label the nodes that have the shim, or correct scheduling.nodeSelector of the RuntimeClass";
        let found = format!("{presets}: no node has the labels that it requires");
        return Finding::new(what, State::Skipped, found, remedy);
    }
    let missing: Vec<&str> = nodes
        .iter()
        .filter(|node| node.lacks(handler))
        .map(|node| node.name.as_str())
        .collect();
    if !missing.is_empty() {
        let remedy = "add the handler to containerd's configuration there, or choose other nodes by scheduling.nodeSelector \
                      of the RuntimeClass";
        let found = format!("{presets}: no handler '{handler}' on {}", named(&missing));
        return Finding::new(what, State::Skipped, found, remedy);
    }
    let silent: Vec<&str> = nodes
        .iter()
        .filter(|node| node.handlers.is_none())
        .map(|node| node.name.as_str())
        .collect();
    if !silent.is_empty() {
        let remedy =
            "a run shows it: a variant whose node lacks the shim is skipped with the reason";
        let found = format!("{presets}: {} does not report its handlers", named(&silent));
        return Finding::new(what, State::Unknown, found, remedy);
    }
    let found = format!("{presets}: handler '{handler}' on {}", counted(nodes.len()));
    Finding::ok(what, found)
}

/// `node-1, node-2 and 7 more`.
pub(crate) fn named(nodes: &[&str]) -> String {
    let shown = nodes[..nodes.len().min(MAX_NAMED)].join(", ");
    match nodes.len().saturating_sub(MAX_NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn counted(nodes: usize) -> String {
    match nodes {
        1 => "1 node".to_owned(),
        many => format!("{many} nodes"),
    }
}
