//! Which cells of density are invalid.

use crate::cells::density::DensityDetail;
use crate::vocabulary::doubt::Reason;

/// Why a cell may be excluded from comparisons, and whether it is. A CPU limit that the run sets is
/// part of its question.
pub fn reasons(climbs: &DensityDetail, sets_cpu_limit: bool) -> [(Reason, bool); 2] {
    let is_disturbed = |reason| {
        climbs
            .disturbed_steps
            .iter()
            .any(|step| step.reason == reason)
    };
    let is_throttled = is_disturbed(Reason::Throttled) && !sets_cpu_limit;
    [
        (Reason::ErrorsInLoad, is_disturbed(Reason::ErrorsInLoad)),
        (Reason::Throttled, is_throttled),
    ]
}
