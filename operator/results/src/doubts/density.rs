//! What speaks against the numbers of density.

use crate::cells::density::DensityCell;
use crate::cells::density::disturbed_steps::text;
use crate::doubts::{Doubt, Reason, doubt, note, throttled};
use crate::read::cpu_limit::CpuLimits;

/// The prefix of places.
const OF: &str = "density of ";

/// What speaks against the numbers. A climb that stopped early does not, because the steps that it
/// reached count. Nor does a noisy node: it delays the first instance, and moves no memory.
pub(super) fn doubts(limits: &CpuLimits<'_>, cells: &[DensityCell]) -> Vec<Doubt> {
    let throttled = cells.iter().filter_map(|cell| {
        let place = place(cell, Reason::Throttled)?;
        Some((cell.variant.clone(), place))
    });
    let throttled = throttled::of_places(limits, OF, throttled);
    let errors = errors_in_load(cells).into_iter();
    errors.chain(throttled).chain(saturated(cells)).collect()
}

fn errors_in_load(cells: &[DensityCell]) -> Option<Doubt> {
    let reason = Reason::ErrorsInLoad;
    Some(doubt(
        reason,
        places(cells, reason, |cell| cell.is_invalid_by(reason))?,
        "these are not compared: a variant that fails may cost less than one that works; look at \
         its log, and for limits of the subject and of the node (memory, open files)",
    ))
}

fn saturated(cells: &[DensityCell]) -> Option<Doubt> {
    let reason = Reason::LoadGeneratorSaturated;
    Some(note(
        reason,
        places(cells, reason, |_| true)?,
        "what the first instance took is the load generator's own time, and memory is still compared: look for \
         a CPU limit of the probe's pods (a LimitRange)",
    ))
}

/// The cells with steps that are disturbed by `reason`, with these steps.
fn places(
    cells: &[DensityCell],
    reason: Reason,
    are_meant: impl Fn(&DensityCell) -> bool,
) -> Option<String> {
    let meant = |cell: &DensityCell| are_meant(cell).then(|| place(cell, reason)).flatten();
    Some(OF.to_owned() + &super::places(cells, meant)?)
}

/// The cell with its steps that are disturbed by `reason`; `None` without any.
fn place(cell: &DensityCell, reason: Reason) -> Option<String> {
    let steps = text(cell, reason);
    (!steps.is_empty()).then(|| format!("{} ({steps})", cell.place()))
}
