//! A CPU limit on pods whose start is timed.

use std::collections::BTreeSet;

use crate::doubts::{Doubt, Evidence, Reason, note};
use crate::read::cpu_limit::CpuLimit;

/// Starts that are timed under a CPU limit, one note for each limit. The periods in which the limit
/// throttles a starting pod are not counted, because its cgroup comes and goes with the sample. So
/// the note only reports that there is a limit.
pub fn doubts(evidence: &Evidence<'_>) -> Vec<Doubt> {
    let cells = evidence.cells.cold_starts.iter();
    let measured = cells.filter(|cell| cell.counts.is_measured());
    let limits: BTreeSet<CpuLimit> = measured
        .map(|cell| evidence.cpu_limits.of_variant(&cell.variant))
        .collect();
    limits.iter().filter_map(of_limit).collect()
}

fn of_limit(limit: &CpuLimit) -> Option<Doubt> {
    let (limit, remedy) = match limit {
        CpuLimit::Run(limit) => (
            limit.clone(),
            "remove limits.cpu from resources, unless starts under this limit are what you want to measure",
        ),
        CpuLimit::LimitRange(limit) => (
            format!("{limit}, which a LimitRange sets and the run does not,"),
            "remove the default from the LimitRange of the namespace (kubectl get limitrange), or set \
             spec.resources.limits.cpu, unless starts under this limit are what you want to measure",
        ),
        // Whether the template has one is not known.
        CpuLimit::Template | CpuLimit::Unknown => return None,
    };
    Some(note(
        Reason::Throttled,
        format!(
            "whether the CPU limit of {limit} stopped pods while they started is not looked at: it is part of what \
             their cold starts measured"
        ),
        remedy,
    ))
}
