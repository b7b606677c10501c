//! Points of an open loop at which the load generator kept its schedule badly.

use wasmbench_model::units;

use crate::cells::open_loop::OpenLoopSummary;
use crate::doubts::{Doubt, Evidence, Reason, note, places};

/// Points whose tail latency the generator may have caused. A note: bursts lengthen every variant's
/// latency and shorten none.
pub(super) fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let open_loop = cell.detail.open_loop;
        let found = open_loop.filter(OpenLoopSummary::may_be_the_generators)?;
        let times = [found.generator_p99_microseconds, found.p99_microseconds];
        let [late, p99] = times.map(|time| units::micros(time.median));
        let place = cell.place();
        Some(format!("{place} (late by {late} at p99, latency {p99})"))
    })?;
    Some(note(
        Reason::LoadGeneratorLate,
        places,
        "take these latencies as upper bounds: what was due evenly came in bursts; give the generator CPUs of \
         its own, or a node with more of them",
    ))
}
