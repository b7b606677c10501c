//! A CPU limit on pods whose start is timed.

use crate::doubts::{Doubt, Evidence, Reason, note};

/// A run that times starts under a CPU limit. The periods in which the limit throttles a starting
/// pod are not counted, because its cgroup comes and goes with the sample. So the doubt only says
/// that there is a limit.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let limit = evidence.spec.cpu_limit()?;
    let mut cells = evidence.cells.cold_starts.iter();
    cells.any(|cell| cell.counts.is_measured()).then(|| {
        note(
            Reason::Throttled,
            format!(
                "whether the CPU limit of {limit} stopped pods while they started is not looked at: it is part of what \
                 their cold starts measured"
            ),
            "remove spec.resources.limits.cpu, unless starts under this limit are what you want to measure",
        )
    })
}
