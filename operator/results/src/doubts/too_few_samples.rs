//! Percentiles that rest on too few requests.

use std::collections::BTreeSet;

use crate::cells::load::LoadCell;
use crate::doubts::{Doubt, Evidence, Reason, places};
use crate::read::trial::REQUESTS_BEYOND_PERCENTILE;
use crate::vocabulary::measure::Sweep;

/// Percentiles that may rest on too few requests: each with the share of requests beyond it (one in
/// this many), and that of the next lower percentile. Comparisons use medians and rates, so too few
/// requests for a median break trust.
const PERCENTILES: [(&str, u64, Option<u64>); 3] = [
    ("p50", 2, None),
    ("p90", 10, Some(2)),
    ("p99", 100, Some(10)),
];

/// The doubt about each percentile.
pub(super) fn doubts(evidence: &Evidence<'_>) -> [Option<Doubt>; 3] {
    PERCENTILES.map(|percentile| doubt(evidence, percentile))
}

fn doubt(
    evidence: &Evidence<'_>,
    (percentile, one_in, below): (&str, u64, Option<u64>),
) -> Option<Doubt> {
    let is_short = |cell: &LoadCell| {
        let carries_below = below.is_none_or(|below| cell.detail.carries(below));
        cell.counts.valid > 0 && !cell.detail.carries(one_in) && carries_below
    };
    let loads = &evidence.cells.loads;
    let places = places(loads, |cell| {
        let requests = cell.detail.fewest_requests.unwrap_or_default();
        is_short(cell).then(|| format!("{} ({requests})", cell.place()))
    })?;
    let needed = REQUESTS_BEYOND_PERCENTILE * one_in;
    let message = format!("{percentile} needs {needed} requests per trial: {places}");
    let short = loads.iter().filter(|cell| is_short(cell));
    let sweeps: BTreeSet<Sweep> = short.map(|cell| cell.detail.sweep).collect();
    let fields: Vec<&str> = sweeps.into_iter().map(raised).collect();
    let remedy = format!(
        "raise {}, or do not use this percentile",
        fields.join(" and ")
    );
    Some(Doubt {
        breaks_trust: below.is_none(),
        ..super::doubt(Reason::TooFewSamples, message, &remedy)
    })
}

/// The field that gives the trials of a sweep more requests.
const fn raised(sweep: Sweep) -> &'static str {
    match sweep {
        Sweep::WarmLatency => "spec.sweeps.warmLatency.requests",
        Sweep::Throughput => "spec.sweeps.throughput.durationSeconds",
        Sweep::OpenLoop => "spec.sweeps.openLoop.durationSeconds",
    }
}
