//! Variants whose logs keep the node's services busy: a cost of the variant that none of its numbers
//! holds.

use wasmbench_model::units;

use crate::doubts::{Doubt, Evidence, Reason, note, places};

/// Points at which the node's services worked for the subject's log. A note: the numbers are those
/// of the pod, and the log costs the node more.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let log = cell.detail.log_cpu_microseconds_per_request?.median;
        let own = cell.detail.cpu_microseconds_per_request?.median;
        let (log, own) = (units::micros(log), units::micros(own));
        Some(format!(
            "{} ({log} a request, in addition to {own} of its own)",
            cell.place()
        ))
    })?;
    Some(note(
        Reason::LogCost,
        format!(
            "what containerd, kubelet and journald used under load beyond what they use without it, as when a service logs \
             each request: {places}"
        ),
        "add it to CPU per request, which is only the pod's, or have the service log less; it does not count as noise of \
         the node",
    ))
}
