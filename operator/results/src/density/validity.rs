//! Which cells of density are invalid, and what speaks against the numbers.

use crate::any_cell::AnyCell;
use crate::density::DensityCell;
use crate::density::disturbed_steps::words;
use crate::doubt::{Doubt, Reason};
use crate::doubts::{self, doubt, is_against, note};
use crate::variant_validity::VariantValidity;

/// The prefix of places.
const OF: &str = "density of ";

/// Adds to each cell the reasons why it is excluded from comparisons.
pub fn mark(cells: &mut [DensityCell], against: VariantValidity<'_>) {
    for cell in cells {
        let has_spoilt = |reason| cell.spoilt.iter().any(|step| step.reason == reason);
        let own = [
            (Reason::ErrorsInLoad, has_spoilt(Reason::ErrorsInLoad)),
            (Reason::Throttled, has_spoilt(Reason::Throttled)),
        ];
        cell.invalid_because = against.all_against(cell, own);
    }
}

/// What speaks against the numbers. A climb that stopped early does not, because the steps that it
/// reached count. Nor does a noisy node: it delays the first instance, and moves no memory.
pub fn doubts(cells: &[DensityCell]) -> Vec<Doubt> {
    let found = [errors_in_load(cells), throttled(cells), saturated(cells)];
    found.into_iter().flatten().collect()
}

fn errors_in_load(cells: &[DensityCell]) -> Option<Doubt> {
    let reason = Reason::ErrorsInLoad;
    Some(doubt(
        reason,
        places(cells, reason, |cell| is_against(reason, cell))?,
        "these are not compared: a variant that fails may cost less than one that works; look at \
         its log, and for limits of the subject and of the node (memory, open files)",
    ))
}

fn throttled(cells: &[DensityCell]) -> Option<Doubt> {
    let reason = Reason::Throttled;
    Some(doubt(
        reason,
        places(cells, reason, |cell| is_against(reason, cell))?,
        "these are not compared: a CPU limit stopped the first instance; remove \
         spec.resources.limits.cpu",
    ))
}

fn saturated(cells: &[DensityCell]) -> Option<Doubt> {
    let reason = Reason::LoadGeneratorSaturated;
    Some(note(
        reason,
        places(cells, reason, |_| true)?,
        "what the first instance took is the load generator's own time, and memory is compared all the same: look for \
         a CPU limit of the probe's pods (a LimitRange)",
    ))
}

/// The cells with steps that are disturbed by `reason`, with these steps.
fn places(
    cells: &[DensityCell],
    reason: Reason,
    are_meant: impl Fn(&DensityCell) -> bool,
) -> Option<String> {
    let place = |cell: &DensityCell| {
        let steps = words(cell, reason);
        let is_meant = are_meant(cell) && !steps.is_empty();
        is_meant.then(|| format!("{} ({steps})", cell.place()))
    };
    Some(OF.to_owned() + &doubts::places(cells, place)?)
}
