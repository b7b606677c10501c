//! Failed requests, above or within the limit of the workload.

use std::collections::BTreeMap;

use crate::cells::load::LoadCell;
use crate::doubts::{Doubt, Evidence, MAX_PLACES, Reason, listed, note, places};
use crate::read::fortio::NO_ANSWER;
use crate::read::traffic::{kind_text, remedy};

/// Points with more failed requests than the workload allows.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let loads = &evidence.cells.loads;
    let remedy = remedy(most_frequent(loads.iter().filter(|cell| is_invalid(cell))));
    Some(crate::doubts::doubt(
        Reason::ErrorsInLoad,
        places(loads, |cell| is_invalid(cell).then(|| text(cell)))?,
        &format!(
            "these points are not compared; {remedy}, or say with spec.workloads[].maxErrorShare how many may fail"
        ),
    ))
}

/// The kind of most failures; `None` if most have a status.
fn most_frequent<'a>(cells: impl Iterator<Item = &'a LoadCell>) -> Option<&'a str> {
    let mut counts: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for load in cells.map(|cell| &cell.detail) {
        let traffic = load.traffic.iter();
        for (kind, count) in traffic.flat_map(|traffic| &traffic.failed_by_kind) {
            *counts.entry(Some(kind.as_str())).or_default() += count;
        }
        let statuses = load.errors_by_status.iter();
        let answered = statuses.filter(|(status, _)| **status != NO_ANSWER);
        *counts.entry(None).or_default() += answered.map(|(_, count)| count).sum::<u64>();
    }
    let most = counts.into_iter().max_by_key(|(_, count)| *count);
    most.and_then(|(kind, _)| kind)
}

/// Points with failed requests that the workload allows.
pub fn within_limit(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let is_allowed = cell.detail.errors > 0 && !is_invalid(cell);
        is_allowed.then(|| text(cell))
    })?;
    Some(note(
        Reason::ErrorsInLoad,
        format!("within maxErrorShare: {places}"),
        "latencies are those of the requests that succeeded; the share that did is compared",
    ))
}

fn is_invalid(cell: &LoadCell) -> bool {
    cell.is_invalid_by(Reason::ErrorsInLoad)
}

/// `native on hello at 50 connections (12 of 4000 requests failed: 10 with 503, 2 without an
/// answer)`.
fn text(cell: &LoadCell) -> String {
    let load = &cell.detail;
    let kinds: Vec<String> = load
        .traffic
        .iter()
        .flat_map(|traffic| &traffic.failed_by_kind)
        .map(|(kind, count)| format!("{count} {}", kind_text(kind)))
        .collect();
    let by_status = load.errors_by_status.iter().filter_map(|(status, count)| {
        match (*status == NO_ANSWER, kinds.is_empty()) {
            (false, _) => Some(format!("{count} with {status}")),
            (true, true) => Some(format!("{count} without an answer")),
            // The kinds are more precise.
            (true, false) => None,
        }
    });
    let statuses: Vec<String> = by_status.collect();
    let ways = statuses.into_iter().chain(kinds);
    let how = listed(ways, MAX_PLACES, ", ").map_or_else(String::new, |how| format!(": {how}"));
    format!(
        "{} ({} of {} requests failed{how})",
        cell.place(),
        load.errors,
        load.requests()
    )
}
