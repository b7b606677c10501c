//! Points of any sweep for which some trials are missing.

use std::collections::BTreeMap;

use crate::cells::any::AnyCell;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, doubt, listed, note};
use crate::vocabulary::cell::of_sweep;
use crate::vocabulary::counts::TrialCounts;

/// Points for which some trials failed: the missing ones may be the slow ones.
pub fn trials_failed(evidence: &Evidence<'_>) -> Option<Doubt> {
    let place = |cell: AnyCell<'_>| {
        let counts = cell.counts;
        let place = cell.place_among_sweeps();
        cell.is_partly_measured()
            .then(|| format!("{place} ({} of {} valid)", counts.valid, counts.planned))
    };
    Some(doubt(
        Reason::TrialsFailed,
        listed(evidence.cells.all().filter_map(place), MAX_PLACES, ", ")?,
        "the failures are listed in the report; remove their cause and run again",
    ))
}

/// Variants for which no trial of a workload's loads, cold starts or density was measured. They do
/// not speak against the numbers of the others.
pub fn nothing_measured(evidence: &Evidence<'_>) -> Option<Doubt> {
    let mut all: BTreeMap<(&str, &str, &str), TrialCounts> = BTreeMap::new();
    for cell in evidence.cells.all() {
        let key = (of_sweep(cell.point), cell.variant, cell.workload);
        all.entry(key).or_default().add(cell.counts);
    }
    let is_lost =
        |counts: &TrialCounts| !counts.is_measured() && counts.failed + counts.skipped > 0;
    let none = all.into_iter().filter(|(_, counts)| is_lost(counts));
    let places =
        none.map(|((sweep, variant, workload), _)| format!("{sweep}{variant} on {workload}"));
    Some(note(
        Reason::TrialsFailed,
        format!("not measured at all: {}", listed(places, MAX_PLACES, ", ")?),
        "the failures are listed in the report; remove their cause and run again",
    ))
}

/// Trials without a record.
pub fn incomplete(evidence: &Evidence<'_>) -> Option<Doubt> {
    let mut all = TrialCounts::default();
    evidence.cells.all().for_each(|cell| all.add(cell.counts));
    (all.missing > 0).then(|| {
        doubt(
            Reason::Incomplete,
            format!("{} of {} trials have no record", all.missing, all.planned),
            "wait for the run to finish; if it has, it was stopped early: run again",
        )
    })
}
