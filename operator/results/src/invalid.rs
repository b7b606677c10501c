//! Invalid points: measured and shown with the reason, but excluded from peaks, knees, comparisons
//! and verdicts.

use crate::any_cell::AnyCell as _;
use crate::cell::CellSummary;
use crate::doubt::Reason;
use crate::doubts::saturation;
use crate::variant_validity::VariantValidity;

/// Adds to each point the reasons that follow from its trials together, or from the whole run.
pub fn mark(cells: &mut [CellSummary], against: VariantValidity<'_>) {
    for cell in cells {
        let of_trials = cell.invalid_because.iter().map(|reason| (*reason, true));
        let throttled = cell.throttled_periods.is_some_and(|periods| periods > 0);
        let own = [
            (Reason::TooFewSamples, has_too_few_samples(cell)),
            (Reason::Throttled, throttled),
            (
                Reason::LoadGeneratorSaturated,
                saturation::is_saturated(cell),
            ),
            (
                Reason::RateNotAchieved,
                cell.open_loop.is_some_and(|found| found.lost_the_rate()),
            ),
        ];
        cell.invalid_because = against.all_against(cell, of_trials.chain(own));
        cell.ranked = cell.is_ranked();
        cell.p999_microseconds = cell.p999_microseconds.filter(|_| cell.ranked);
    }
}

/// Comparisons use medians and rates; a p90 or p99 of too few requests is only noted.
fn has_too_few_samples(cell: &CellSummary) -> bool {
    cell.counts.valid > 0 && !cell.carries(2)
}
