//! A CPU limit on pods whose start is timed.

use crate::doubts::{Doubt, Evidence, Reason, note};
use crate::read::cpu_limit::CpuLimit;

/// Starts that are timed under a CPU limit. The periods in which the limit throttles a starting
/// pod are not counted, because its cgroup comes and goes with the sample. So the doubt only reports
/// that there is a limit.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let (limit, remedy) = match evidence.cpu_limit {
        CpuLimit::Run(limit) => (
            limit.clone(),
            "remove spec.resources.limits.cpu, unless starts under this limit are what you want to measure",
        ),
        CpuLimit::LimitRange(limit) => (
            format!("{limit}, which a LimitRange sets and the run does not,"),
            "remove the default from the LimitRange of the namespace (kubectl get limitrange), or set \
             spec.resources.limits.cpu, unless starts under this limit are what you want to measure",
        ),
        CpuLimit::Unknown => return None,
    };
    let mut cells = evidence.cells.cold_starts.iter();
    cells.any(|cell| cell.counts.is_measured()).then(|| {
        note(
            Reason::Throttled,
            format!(
                "whether the CPU limit of {limit} stopped pods while they started is not looked at: it is part of what \
                 their cold starts measured"
            ),
            remedy,
        )
    })
}
