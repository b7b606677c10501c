//! A CPU limit that stopped the subject. One that the run sets is part of its question: numbers
//! stand, and how much of the time it stopped the subject is noted. Any other makes points invalid.

use crate::doubts::{self, Doubt, Evidence, Reason, note, places};
use crate::read::cpu_limit::CpuLimit;
use crate::read::pod_use::throttled_words;

/// Points of loads at which a CPU limit stopped the subject.
pub(super) fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let load = &cell.detail;
        let words = throttled_words(load.throttled_periods?, load.throttled_share);
        load.is_throttled()
            .then(|| format!("{} ({words})", cell.place()))
    })?;
    Some(of_places(evidence.cpu_limit, &places))
}

/// The doubt about these places, or the note if the run itself sets the limit.
pub(super) fn of_places(limit: &CpuLimit, places: &str) -> Doubt {
    let foreign = |limit: &str, remedy| {
        let message = format!("{limit} stopped the subject: {places}");
        doubts::doubt(Reason::Throttled, message, remedy)
    };
    match limit {
        CpuLimit::Run(limit) => note(
            Reason::Throttled,
            format!("the CPU limit of {limit}, which the run sets, stopped the subject: {places}"),
            "nothing, if subjects under this limit are what you want to measure: latencies include the stops, and the \
             limit bounds the rate; otherwise remove spec.resources.limits.cpu",
        ),
        CpuLimit::LimitRange(limit) => foreign(
            &format!("the CPU limit of {limit}, which a LimitRange sets and the run does not,"),
            "these points are not compared: set spec.resources.limits.cpu, so that the limit is part of what is measured, \
             or remove the default from the LimitRange of the namespace (kubectl get limitrange)",
        ),
        CpuLimit::Unknown => foreign(
            "a CPU limit that the run does not set",
            "these points are not compared: look for a LimitRange in the namespace (kubectl get limitrange), or set \
             spec.resources.limits.cpu, so that the limit is part of what is measured",
        ),
    }
}
