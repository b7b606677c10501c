//! Responses that wait for an acknowledgement: a sender with Nagle's algorithm holds back the rest
//! of its response until the receiver has sent its delayed acknowledgement. The service looks slow
//! but is not.

use wasmbench_model::units;

use crate::cells::load::LoadDetail;
use crate::doubts::{Doubt, Evidence, Reason, note, places};

/// Latencies that suggest a delayed acknowledgement, in microseconds. Linux delays one by 40 ms,
/// and the request itself adds a little.
const DELAY: std::ops::RangeInclusive<f64> = 39_000.0..=46_000.0;
/// A service whose CPU time is a larger share of the latency is slow by itself.
const BUSY_SHARE: f64 = 0.25;

/// Latencies over a single connection that suggest delayed acknowledgements. With more connections
/// a request also waits for others, and under a CPU limit for the next scheduler period.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let (name, latency) = delayed(&cell.detail).filter(|_| is_undisturbed(&cell.detail))?;
        let latency = units::micros(latency);
        Some(format!("{} ({name} {latency})", cell.place()))
    })?;
    Some(note(
        Reason::DelayedAck,
        format!(
            "latencies of about 40 ms with little CPU time, as when answers wait for a delayed acknowledgement: {places}"
        ),
        "unless the service waits on purpose, have it send an answer in one piece or set TCP_NODELAY: the difference is \
         that of its sockets and not of its runtime",
    ))
}

/// Whether a request waits for nothing but its own answer.
fn is_undisturbed(load: &LoadDetail) -> bool {
    load.connections == 1 && !load.is_throttled()
}

/// The lowest percentile with such a latency, in microseconds.
fn delayed(load: &LoadDetail) -> Option<(&'static str, f64)> {
    let percentiles = [
        ("p50", load.p50_microseconds),
        ("p90", load.p90_microseconds),
        ("p99", load.p99_microseconds),
    ];
    let mut known = percentiles
        .into_iter()
        .filter_map(|(name, spread)| Some((name, spread?.median)));
    let found = known.find(|(_, latency)| DELAY.contains(latency))?;
    let busy = load.cpu_microseconds_per_request;
    let is_busy = busy.is_some_and(|busy| busy.median > BUSY_SHARE * found.1);
    (!is_busy).then_some(found)
}
