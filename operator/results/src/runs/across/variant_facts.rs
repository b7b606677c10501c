//! What ran as a variant, as observed: image, engine, `RuntimeClass`. This is what two runs are
//! compared for.

use std::collections::BTreeSet;

use crate::read::environment::VariantImages;
use crate::runs::across::difference::{ABSENT, difference};
use crate::runs::across::{Difference, Side, Weight};

/// A fact that was not observed: the variant never ran, or its engine was not queried.
const UNKNOWN: &str = "unknown";
/// Separates the facts of an engine.
const BETWEEN: &str = ", ";

/// The differences in one variant between both runs.
pub fn differences(variant: &str, before: Side<'_>, after: Side<'_>) -> Vec<Difference> {
    let ran_on = |side: Side<'_>| {
        let mut variants = side.summary.environment.variants.iter();
        let ran = variants.find(|ran| ran.variant == variant);
        ran.cloned().unwrap_or_default()
    };
    let (one, other) = (ran_on(before), ran_on(after));
    let all = [
        ("image", image(&one), image(&other)),
        (
            "engine",
            engine(&one.engines, &other.engines),
            engine(&other.engines, &one.engines),
        ),
        ("RuntimeClass", runtime_class(&one), runtime_class(&other)),
    ];
    let found = all.into_iter().filter_map(|(kind, one, other)| {
        let what = format!("{kind} of {variant}");
        difference(Weight::Compared, what, &one, &other)
    });
    found.collect()
}

fn image(ran: &VariantImages) -> String {
    let is_resolved = !ran.image_ids.is_empty();
    joined(if is_resolved {
        &ran.image_ids
    } else {
        &ran.images
    })
}

/// The facts that only this one of two engines reports. A list of all facts would be cut off before
/// the first one that differs.
fn engine(texts: &BTreeSet<String>, other: &BTreeSet<String>) -> String {
    if texts.is_empty() {
        return UNKNOWN.to_owned();
    }
    let facts = |texts: &BTreeSet<String>| -> BTreeSet<String> {
        let facts = texts.iter().flat_map(|text| text.split(BETWEEN));
        facts.map(str::to_owned).collect()
    };
    let own: BTreeSet<String> = facts(texts).difference(&facts(other)).cloned().collect();
    if own.is_empty() {
        ABSENT.to_owned()
    } else {
        joined(&own)
    }
}

/// A variant that ran without a `RuntimeClass` has the node's default.
fn runtime_class(ran: &VariantImages) -> String {
    match (ran.runtime_classes.is_empty(), ran.images.is_empty()) {
        (false, _) => joined(&ran.runtime_classes),
        (true, false) => "the node's default".to_owned(),
        (true, true) => UNKNOWN.to_owned(),
    }
}

/// The entries of a set, on one line.
pub fn joined(set: &BTreeSet<String>) -> String {
    set.iter().cloned().collect::<Vec<_>>().join(BETWEEN)
}
