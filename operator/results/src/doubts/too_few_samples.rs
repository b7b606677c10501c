//! Percentiles that rest on too few requests.

use crate::doubts::{Doubt, Evidence, Reason, places};
use crate::read::trial::REQUESTS_BEYOND_PERCENTILE;

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
    let places = places(&evidence.cells.loads, |cell| {
        let carries_below = below.is_none_or(|below| cell.detail.carries(below));
        let is_short = cell.counts.valid > 0 && !cell.detail.carries(one_in) && carries_below;
        let requests = cell.detail.fewest_requests.unwrap_or_default();
        is_short.then(|| format!("{} ({requests})", cell.place()))
    })?;
    let needed = REQUESTS_BEYOND_PERCENTILE * one_in;
    let message = format!("{percentile} needs {needed} requests per trial: {places}");
    let remedy = "raise spec.sweeps.warmLatency.requests or \
                  spec.sweeps.throughput.durationSeconds, or do not use this percentile";
    Some(Doubt {
        breaks_trust: below.is_none(),
        ..super::doubt(Reason::TooFewSamples, message, remedy)
    })
}
