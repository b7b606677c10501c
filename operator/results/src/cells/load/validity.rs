//! Invalid points: measured and shown with the reason, but excluded from peaks, knees, comparisons
//! and verdicts.

use std::collections::BTreeSet;

use crate::cells::load::LoadDetail;
use crate::cells::load::saturation::is_saturated;
use crate::read::trial::Trial;
use crate::vocabulary::counts::TrialCounts;
use crate::vocabulary::doubt::Reason;
use crate::vocabulary::trial_reason::TrialReason;

/// The reasons that follow from the trials of a point. `wrong` is what speaks against all of them.
/// A CPU limit that the run sets is part of its question; any other measures what nobody asked for.
pub fn reasons(
    counts: TrialCounts,
    load: &LoadDetail,
    wrong: Option<Reason>,
    sets_cpu_limit: bool,
) -> impl Iterator<Item = (Reason, bool)> {
    let throttled = load.is_throttled() && !sets_cpu_limit;
    let lost_the_rate = load.open_loop.is_some_and(|found| found.lost_the_rate());
    // Comparisons use medians and rates; a p90 or p99 of too few requests is only noted.
    let too_few = counts.valid > 0 && !load.carries(2);
    let of_point = [
        (Reason::TooFewSamples, too_few),
        (Reason::Throttled, throttled),
        (Reason::LoadGeneratorSaturated, is_saturated(load)),
        (Reason::RateNotAchieved, lost_the_rate),
    ];
    let of_trials = of_trials(&load.trials).into_iter().chain(wrong);
    of_trials.map(|reason| (reason, true)).chain(of_point)
}

/// One bad trial makes its whole point invalid: otherwise the blocks that worked would represent a
/// variant that does not work reliably.
fn of_trials(trials: &[Trial]) -> BTreeSet<Reason> {
    let excluded = trials.iter().filter_map(|trial| trial.reason.as_ref());
    excluded.filter_map(TrialReason::doubt).collect()
}
