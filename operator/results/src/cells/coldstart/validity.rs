//! Which points of cold starts are invalid.

use crate::cells::coldstart::ColdStartDetail;
use crate::vocabulary::doubt::Reason;

/// An uncertainty of a moment that is always accepted: the probe polls every 0.6 ms.
const FINE_MICROSECONDS: f64 = 1000.0;
/// Times may be wrong by half of the smallest difference that matters, which is also the interval
/// width that `precision` aims for.
const SHARE_OF_DIFFERENCE: f64 = 0.5;

/// Why a point may be excluded from comparisons, and whether it is. `smallest` is the smallest
/// difference of starts that matters, in microseconds.
pub fn reasons(starts: &ColdStartDetail, smallest: f64) -> [(Reason, bool); 2] {
    [
        (Reason::CacheClassViolated, starts.wrong_class_trials > 0),
        (Reason::ClockTooCoarse, is_too_coarse(starts, smallest)),
    ]
}

/// Whether the times of a point may be wrong by more than its comparison tolerates.
fn is_too_coarse(starts: &ColdStartDetail, smallest: f64) -> bool {
    let bearable = (smallest * SHARE_OF_DIFFERENCE).max(FINE_MICROSECONDS);
    let unsure = starts.answer_uncertainty_microseconds.unwrap_or_default();
    unsure.max(starts.clock_shift_microseconds) > bearable
}
