//! Points that rest on some of their trials, of whatever sweep. Each comes as its place with how its trials
//! ended; `of` stands before the places.

use super::{Doubt, MAX_PLACES, Reason, doubt, listed};
use crate::results::summary::TrialCounts;

/// Points of which some trials failed: the ones that are missing may be the slow ones.
pub fn trials_failed(
    of: &str,
    points: impl Iterator<Item = (String, TrialCounts)>,
) -> Option<Doubt> {
    let partly = |counts: &TrialCounts| counts.valid > 0 && counts.failed + counts.skipped > 0;
    let places = points.filter(|(_, counts)| partly(counts)).map(with_valid);
    Some(doubt(
        Reason::TrialsFailed,
        of.to_owned() + &listed(places, MAX_PLACES, ", ")?,
        "the failures are listed in the report; remove their cause and run again",
    ))
}

/// Points of which trials have no record.
pub fn incomplete(of: &str, points: impl Iterator<Item = (String, TrialCounts)>) -> Option<Doubt> {
    let missing = points.filter(|(_, counts)| counts.missing > 0);
    Some(doubt(
        Reason::Incomplete,
        of.to_owned() + &listed(missing.map(with_valid), MAX_PLACES, ", ")?,
        "wait for the run to finish; if it has, it was stopped early: run again",
    ))
}

fn with_valid((place, counts): (String, TrialCounts)) -> String {
    format!("{place} ({} of {} valid)", counts.valid, counts.planned)
}
