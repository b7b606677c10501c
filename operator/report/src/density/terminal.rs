//! Density for a terminal.

use wasmbench_api::status::SummaryRow;
use wasmbench_model::units;

use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::with_mark;

/// Density of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> Table {
    let found = rows
        .iter()
        .filter_map(|row| Some((row, row.density.as_ref()?)));
    Sheet::new(found)
        .counting(|(_, found)| found.invalid.is_none())
        .left("DENSITY", |(row, _)| with_mark(&row.variant, baseline))
        .measured("PER INSTANCE", |(_, found)| {
            found.bytes_per_instance.map(units::bytes)
        })
        .right("INSTANCES", |(_, found)| found.instances)
        .right("STOPPED EARLY", |(_, found)| found.stopped_trials)
        .right("TRIALS", |(_, found)| found.trials)
        .left("INVALID", |(_, found)| found.invalid.clone())
        .table()
}
