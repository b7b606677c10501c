//! Connections = rate x latency: in a closed loop every connection waits for a response.

use wasmbench_model::units;

use crate::doubts::{Doubt, Evidence, Reason, note, places};
use crate::vocabulary::measure::Sweep;

/// How far rate times mean latency may differ from the number of connections, as a share. With 1 to
/// 256 connections on a crowded machine, fortio reports 0.99 to 1.00; anything missing beyond that
/// did not wait for the subject.
pub const TOLERANCE: f64 = 0.05;

/// Throughput points at which fewer connections were waiting for responses than there are, or more.
pub fn doubt(evidence: &Evidence<'_>) -> Option<Doubt> {
    let places = places(&evidence.cells.loads, |cell| {
        let busy = cell.detail.connections_busy?;
        let is_off = cell.detail.sweep == Sweep::Throughput && (busy - 1.0).abs() > TOLERANCE;
        is_off.then(|| format!("{} ({})", cell.place(), units::percent(busy)))
    })?;
    Some(note(
        Reason::LittlesLaw,
        format!("rate x mean latency is not the number of connections: {places}"),
        "connections were refused, queued or closed: look for failed requests and limits of the \
         subject (backlog, open files), or use fewer connections",
    ))
}
