//! Payload for a terminal.

use wasmbench_api::status::{PayloadSizeStatus, SummaryRow};
use wasmbench_model::units;

use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::with_mark;

/// What bytes cost under one workload, for a terminal; empty without payload.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> Table {
    let found = rows
        .iter()
        .filter_map(|row| Some((row, row.payload.as_ref()?)));
    Sheet::new(found)
        .counting(|(_, found)| found.invalid.is_none())
        .left("PAYLOAD", |(row, _)| with_mark(&row.variant, baseline))
        .measured("CPU/REQ", |(_, found)| {
            found.fixed_cpu_microseconds.map(units::micros)
        })
        .measured("INTERVAL", |(_, found)| {
            within(found.fixed_cpu_low, found.fixed_cpu_high)
        })
        .measured("CPU/MB", |(_, found)| {
            found.cpu_microseconds_per_megabyte.map(units::micros)
        })
        .measured("INTERVAL", |(_, found)| {
            within(found.cpu_per_megabyte_low, found.cpu_per_megabyte_high)
        })
        .measured("LARGEST", |(_, found)| largest(&found.sizes))
        .right("TRIALS", |(_, found)| found.trials)
        .left("INVALID", |(_, found)| found.invalid.clone())
        .table()
}

fn within(low: Option<f64>, high: Option<f64>) -> Option<String> {
    let (low, high) = low.zip(high)?;
    Some(format!("{} to {}", units::micros(low), units::micros(high)))
}

/// The largest body, and how much of it the subject got per second: `1.00 MiB at 412 MB/s`.
fn largest(sizes: &[PayloadSizeStatus]) -> Option<String> {
    let last = sizes.last()?;
    let rate = units::rate(last.received_megabytes_per_second?);
    Some(format!(
        "{} at {rate} MB/s",
        units::bytes(last.bytes.into())
    ))
}
