//! Points that rest on some of their trials, of whatever sweep. Each comes as its place with how its trials
//! ended; `of` stands before the places.

use std::collections::BTreeMap;

use crate::counts::TrialCounts;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, doubt, listed, note};

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

/// Variants of which no trial of a workload was measured: of its loads, its cold starts or its density. They
/// do not speak against the others' numbers.
pub fn nothing_measured(evidence: &Evidence<'_>) -> Option<Doubt> {
    let loads = evidence.cells.iter();
    let loads = loads.map(|cell| ("", &cell.variant, &cell.workload, cell.counts));
    let cold = evidence.cold_starts.iter();
    let cold = cold.map(|cell| {
        (
            "cold starts of ",
            &cell.variant,
            &cell.workload,
            cell.counts,
        )
    });
    let density = evidence.density.iter();
    let density = density.map(|cell| ("density of ", &cell.variant, &cell.workload, cell.counts));
    let mut all: BTreeMap<(&str, &str, &str), (u32, u32)> = BTreeMap::new();
    for (of, variant, workload, counts) in loads.chain(cold).chain(density) {
        let (measured, lost) = all.entry((of, variant, workload)).or_default();
        *measured += counts.valid + counts.invalid;
        *lost += counts.failed + counts.skipped;
    }
    let none = all.into_iter();
    let none = none.filter(|(_, (measured, lost))| *measured == 0 && *lost > 0);
    let places = none.map(|((of, variant, workload), _)| format!("{of}{variant} on {workload}"));
    Some(note(
        Reason::TrialsFailed,
        format!("not measured at all: {}", listed(places, MAX_PLACES, ", ")?),
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
