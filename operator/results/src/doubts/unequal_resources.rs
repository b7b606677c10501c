//! Ratios between variants that differ in their resources and in what they run.

use wasmbench_api::run::Variant;

use crate::doubts::{Doubt, Evidence, MAX_ITEMS, Reason, listed, note};

/// Variants whose ratios are those of a limit and of a program at once. A note: each ratio is right,
/// but does not say which of the two it is due to.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let spec = evidence.spec;
    let name = spec.baseline_name();
    let baseline = spec.variants.iter().find(|variant| variant.name == name)?;
    let is_compared = |variant: &&Variant| {
        let mut all = evidence.comparisons.iter();
        all.any(|one| one.variant == variant.name)
    };
    let resources = spec.resources_of(baseline);
    let differs_in_both = |variant: &&Variant| {
        spec.resources_of(variant) != resources && program(variant) != program(baseline)
    };
    let found = spec.variants.iter().filter(differs_in_both);
    let names = found
        .filter(is_compared)
        .map(|variant| variant.name.clone());
    Some(note(
        Reason::UnequalResources,
        format!(
            "not only the resources differ from those of {name}, but also what runs: {}",
            listed(names, MAX_ITEMS, ", ")?
        ),
        "read these ratios as those of two offers: what a limit is worth shows between variants that differ in nothing else, \
         and what a program is worth between variants with the same resources",
    ))
}

/// The variant without its name and resources.
fn program(variant: &Variant) -> Variant {
    Variant {
        name: String::new(),
        resources: None,
        ..variant.clone()
    }
}
