//! How two runs differ, and what each difference means. New fields of the spec need no words of
//! their own: a field counts as part of what is measured unless it is known to be harmless.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use strum::IntoEnumIterator as _;
use wasmbench_api::BenchmarkRunSpec;
use wasmbench_model::wire::record::AnySweep;

use crate::read::env_values::digested;
use crate::read::environment::Environment;
use crate::runs::across::difference::{ABSENT, difference};
use crate::runs::across::variant_facts::{self, joined};
use crate::runs::across::{Difference, Side, Weight};

/// Fields of the spec that say how often, where and in which order to measure, but not what.
const HARMLESS: [&str; 15] = [
    "additionalMeasures",
    "baseline",
    "baselineRunName",
    "blocks",
    "expectations",
    "minimumDifference",
    "minimumEffect",
    "noiseFloor",
    "precision",
    "primaryMeasures",
    "runScatter",
    "seed",
    "subjectReadyTimeoutSeconds",
    "suspend",
    "ttlSecondsAfterFinished",
];

/// All differences from the earlier runs, the most serious first. A difference that several runs
/// share appears once.
pub fn of_all(before: &[Side<'_>], after: Side<'_>) -> Vec<Difference> {
    let mut all: Vec<Difference> = vec![];
    for run in before {
        let found = differences(*run, after).into_iter();
        let new: Vec<Difference> = found.filter(|one| !all.contains(one)).collect();
        all.extend(new);
    }
    all.sort_by_key(|difference| difference.weight);
    all
}

/// Whether the runs do not all have the same baseline. Ratios to it then mean different things.
pub fn is_another_baseline(before: &[Side<'_>], after: Side<'_>) -> bool {
    let name = after.summary.baseline.as_str();
    before
        .iter()
        .any(|run| run.summary.baseline != name || !of_variant(name, *run, after).is_empty())
}

/// All differences, the most serious first.
fn differences(before: Side<'_>, after: Side<'_>) -> Vec<Difference> {
    let environments = (&before.summary.environment, &after.summary.environment);
    let mut all = node(environments.0, environments.1);
    all.extend(of_what_is_measured(before.spec, after.spec));
    all.extend(instruments(environments.0, environments.1));
    all.extend(trust(before, after));
    all.extend(variants(before, after));
    all.sort_by_key(|difference| difference.weight);
    all
}

/// Nodes are the same if their fingerprints are. A run without a fingerprint may have run anywhere.
fn node(before: &Environment, after: &Environment) -> Vec<Difference> {
    let (one, other) = (before.fingerprint.as_deref(), after.fingerprint.as_deref());
    if one.is_some() && one == other {
        return vec![];
    }
    let name = |fingerprint: Option<&str>| fingerprint.unwrap_or("unknown").to_owned();
    let mut found = vec![Difference {
        weight: Weight::Forbids,
        what: "fingerprint of the node".to_owned(),
        before: name(one),
        after: name(other),
    }];
    for (scope, before, after) in [
        ("probe", &before.facts, &after.facts),
        ("node", &before.node_facts, &after.node_facts),
    ] {
        let value = |facts: &BTreeMap<String, String>, key: &str| {
            facts.get(key).map_or(ABSENT, String::as_str).to_owned()
        };
        let keys: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        found.extend(keys.into_iter().filter_map(|key| {
            let what = format!("{scope}.{key}");
            difference(
                Weight::Forbids,
                what,
                &value(before, key),
                &value(after, key),
            )
        }));
    }
    found
}

fn of_what_is_measured(before: &BenchmarkRunSpec, after: &BenchmarkRunSpec) -> Vec<Difference> {
    let (one, other) = (flat(measured(before)), flat(measured(after)));
    // Workloads and sweeps that only one of the runs has are not compared, so they need no reason.
    let known = |fields: &BTreeMap<String, String>, part: &str| {
        fields.keys().any(|field| field.starts_with(part))
    };
    let differs = |field: &str| {
        let part = part(field);
        part.is_none_or(|part| known(&one, part) && known(&other, part))
    };
    let name = |field: &str| differs(field).then(|| format!("spec.{field}"));
    of_leaves(Weight::Forbids, &one, &other, name)
}

/// The differences between the leaves of two specs, limited to leaves that have a `name`.
fn of_leaves(
    weight: Weight,
    one: &BTreeMap<String, String>,
    other: &BTreeMap<String, String>,
    name: impl Fn(&str) -> Option<String>,
) -> Vec<Difference> {
    let fields: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let found = fields.into_iter().filter_map(|field| {
        let [before, after] =
            [one, other].map(|leaves| leaves.get(field).map_or(ABSENT, String::as_str));
        difference(weight, name(field)?, before, after)
    });
    found.collect()
}

/// The workload or sweep that a field belongs to: `workloads.hello.`.
fn part(field: &str) -> Option<&str> {
    let is_part = field.starts_with("workloads.") || field.starts_with("sweeps.");
    let ends: Vec<usize> = field.match_indices('.').map(|(at, _)| at).take(2).collect();
    is_part
        .then(|| ends.get(1).map(|end| &field[..=*end]))
        .flatten()
}

/// The spec without its harmless fields, with workloads by name, and without points, which only one
/// of the runs may have.
fn measured(spec: &BenchmarkRunSpec) -> Value {
    // A spec that came from JSON converts back to it; Null would make everything differ.
    let mut value = serde_json::to_value(spec).unwrap_or_default();
    let Some(fields) = value.as_object_mut() else {
        return value;
    };
    fields.retain(|field, _| !HARMLESS.contains(&field.as_str()) && field != "variants");
    // The fingerprint identifies the node.
    if let Some(placement) = fields.get_mut("placement").and_then(Value::as_object_mut) {
        placement.retain(|field, _| field == "network");
    }
    if let Some(workloads) = fields.get_mut("workloads") {
        *workloads = by_name(workloads.take());
    }
    for sweep in AnySweep::iter() {
        let name: &str = sweep.into();
        let sweeps = fields.get_mut("sweeps");
        let fields = sweeps.and_then(|sweeps| sweeps.get_mut(name)?.as_object_mut());
        if let Some(fields) = fields {
            fields.retain(|field, _| !points_fields(sweep).contains(&field.as_str()));
        }
    }
    value
}

/// The fields of a sweep that list its points; none for a sweep with a single point.
const fn points_fields(sweep: AnySweep) -> &'static [&'static str] {
    match sweep {
        AnySweep::Throughput => &["connections"],
        AnySweep::ColdStart => &["concurrency"],
        AnySweep::OpenLoop => &["rates", "ratesPercentOfPeak"],
        AnySweep::WarmLatency
        | AnySweep::Capacity
        | AnySweep::Payload
        | AnySweep::Density
        | AnySweep::Scout => &[],
    }
}

/// A list of objects as an object. A dot in a name would look like a level, but no name has one.
fn by_name(list: Value) -> Value {
    let Value::Array(entries) = list else {
        return list;
    };
    let named = entries.into_iter().filter_map(|entry| {
        let name = entry.get("name")?.as_str()?.to_owned();
        Some((name, entry))
    });
    Value::Object(named.collect())
}

/// Every leaf by its path.
fn flat(value: Value) -> BTreeMap<String, String> {
    let mut leaves = BTreeMap::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Object(fields) => open.extend(fields.into_iter().map(|(field, value)| {
                let dot = if path.is_empty() { "" } else { "." };
                (format!("{path}{dot}{field}"), value)
            })),
            Value::Null => {}
            Value::String(text) => {
                leaves.insert(path, text);
            }
            other @ (Value::Bool(_) | Value::Number(_) | Value::Array(_)) => {
                leaves.insert(path, other.to_string());
            }
        }
    }
    leaves
}

fn instruments(before: &Environment, after: &Environment) -> Vec<Difference> {
    let sources = |environment: &Environment| {
        let names = environment.memory_sources.iter();
        joined(
            &names
                .map(|source| <&str>::from(*source).to_owned())
                .collect(),
        )
    };
    let all = [
        (
            "version of fortio",
            joined(&before.fortio_versions),
            joined(&after.fortio_versions),
        ),
        (
            "version of the probe",
            joined(&before.probe_versions),
            joined(&after.probe_versions),
        ),
        (
            "counter behind memory numbers",
            sources(before),
            sources(after),
        ),
        (
            "name of the node",
            before.node.clone().unwrap_or_default(),
            after.node.clone().unwrap_or_default(),
        ),
    ];
    let found = all.into_iter().filter_map(|(what, before, after)| {
        difference(Weight::Warns, what.to_owned(), &before, &after)
    });
    found.collect()
}

fn trust(before: Side<'_>, after: Side<'_>) -> Option<Difference> {
    let word = |side: Side<'_>| match side.summary.trustworthy {
        Some(true) => "yes",
        Some(false) => "no",
        None => "no numbers",
    };
    let (one, other) = (word(before), word(after));
    (one != "yes" || other != "yes").then(|| Difference {
        weight: Weight::Warns,
        what: "trustworthy".to_owned(),
        before: one.to_owned(),
        after: other.to_owned(),
    })
}

/// What ran as each variant that both runs have: image, engine, `RuntimeClass`, arguments. This is
/// the subject of the comparison.
fn variants(before: Side<'_>, after: Side<'_>) -> Vec<Difference> {
    let names = after.spec.variants.iter().map(|variant| &variant.name);
    names
        .flat_map(|name| of_variant(name, before, after))
        .collect()
}

fn of_variant(name: &str, before: Side<'_>, after: Side<'_>) -> Vec<Difference> {
    let variant_spec = |spec: &BenchmarkRunSpec| {
        let variants = serde_json::to_value(digested(&spec.variants)).unwrap_or_default();
        by_name(variants).get(name).cloned()
    };
    let (Some(one), Some(other)) = (variant_spec(before.spec), variant_spec(after.spec)) else {
        return vec![];
    };
    let mut found = variant_facts::differences(name, before, after);
    let what = |field: &str| Some(format!("spec.variants.{name}.{field}"));
    found.extend(of_leaves(Weight::Compared, &flat(one), &flat(other), what));
    found
}
