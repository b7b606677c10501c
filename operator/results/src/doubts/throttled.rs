//! A CPU limit that stopped the subject. One that the run sets, or the template of an object that it
//! scales, is part of its question: numbers stand, and how much of the time it stopped the subject is
//! noted. Any other makes points invalid.

use std::collections::BTreeMap;

use crate::cells::load::LoadCell;
use crate::doubts::{self, Doubt, Evidence, MAX_PLACES, Reason, listed, note};
use crate::read::cpu_limit::{CpuLimit, CpuLimits};
use crate::read::pod_use::throttled_text;

/// Points of loads at which a CPU limit stopped the subject, one doubt for each limit.
pub(super) fn doubts(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let place = |cell: &LoadCell| {
        let load = &cell.detail;
        let text = throttled_text(load.throttled_periods?, load.throttled_share);
        let is_throttled = load.is_throttled();
        is_throttled.then(|| (cell.variant.clone(), format!("{} ({text})", cell.place())))
    };
    let places = evidence.cells.loads.iter().filter_map(place);
    of_places(evidence.cpu_limits, "", places)
}

/// What speaks against places, each with its variant: for each limit a doubt, or a note if it is part
/// of what the run asks. `of` comes before the places.
pub(super) fn of_places(
    limits: &CpuLimits<'_>,
    of: &str,
    places: impl Iterator<Item = (String, String)>,
) -> Vec<Doubt> {
    let mut by_limit: BTreeMap<CpuLimit, Vec<String>> = BTreeMap::new();
    for (variant, place) in places {
        let limit = limits.of_variant(&variant);
        by_limit.entry(limit).or_default().push(place);
    }
    let doubt = |(limit, places): (CpuLimit, Vec<String>)| {
        let places = listed(places.into_iter(), MAX_PLACES, ", ")?;
        Some(of_limit(&limit, &format!("{of}{places}")))
    };
    by_limit.into_iter().filter_map(doubt).collect()
}

fn of_limit(limit: &CpuLimit, places: &str) -> Doubt {
    let foreign = |limit: &str, remedy| {
        let message = format!("{limit} stopped the subject: {places}");
        doubts::doubt(Reason::Throttled, message, remedy)
    };
    let set_by_user = |limit: &str, place: &str| {
        note(
            Reason::Throttled,
            format!("{limit} stopped the subject: {places}"),
            &format!(
                "nothing, if subjects under this limit are what you want to measure: latencies include the stops, and the \
                 limit bounds the rate; otherwise remove limits.cpu from {place}"
            ),
        )
    };
    match limit {
        CpuLimit::Run(limit) => set_by_user(
            &format!("the CPU limit of {limit}, which the run sets,"),
            "resources",
        ),
        CpuLimit::Template => set_by_user("the CPU limit of its own template", "the template"),
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
