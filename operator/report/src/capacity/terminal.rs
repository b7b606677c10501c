//! Capacity for a terminal.

use wasmbench_api::status::{CapacityStatus, SummaryRow};
use wasmbench_model::units;

use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::with_mark;

/// Capacities of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> Table {
    let found = rows
        .iter()
        .filter_map(|row| Some((row, row.capacity.as_ref()?)));
    Sheet::new(found)
        .counting(|(_, found)| found.invalid.is_none())
        .left("CAPACITY", |(row, _)| with_mark(&row.variant, baseline))
        .right("P99 <=", |(_, found)| {
            units::micros(found.target_p99_microseconds)
        })
        .measured("REQUESTS/S", |(_, found)| rate(found))
        .measured("INTERVAL", |(_, found)| {
            let (low, high) = found.rps_low.zip(found.rps_high)?;
            Some(format!("{} to {}", units::rate(low), units::rate(high)))
        })
        .right("TRIALS", |(_, found)| found.trials)
        .left("LIMITS", |(_, found)| found.limited.clone())
        .left("INVALID", |(_, found)| found.invalid.clone())
        .table()
}

/// The capacity, or the end that is known.
fn rate(found: &CapacityStatus) -> Option<String> {
    let bound =
        |text: &str, rps: Option<f64>| rps.map(|rps| format!("{text} {}", units::rate(rps)));
    let known = found.rps.map(units::rate);
    match (found.rps_low, found.rps_high) {
        (low, None) => known.or_else(|| bound("at least", low)),
        (None, high) => known.or_else(|| bound("at most", high)),
        (Some(_), Some(_)) => known,
    }
}
