//! Density for a terminal.

use wasmbench_api::status::SummaryRow;
use wasmbench_core::units::{self, judged_ratio};
use wasmbench_results::measure::Metric;

use crate::sheet::Sheet;
use crate::tables::with_mark;
use crate::terminal::words::{verdict, versus};

/// Density of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> String {
    let found = rows
        .iter()
        .filter_map(|row| Some((row, row.density.as_ref()?)));
    let found: Vec<_> = found.collect();
    let versus = versus(baseline, found.iter().any(|(_, found)| found.primary));
    let table = Sheet::of(found)
        .counting(|(_, found)| found.invalid.is_none())
        .left("DENSITY", |(row, _)| with_mark(&row.variant, baseline))
        .measured("PER INSTANCE", |(_, found)| {
            found.bytes_per_instance.map(units::bytes)
        })
        .right(versus, |(_, found)| {
            let untrusted = found.untrusted.as_deref();
            let verdict = verdict(
                found.verdict.as_deref()?,
                Metric::MemoryPerInstance,
                untrusted,
            );
            Some(judged_ratio(
                found.ratio?,
                found.low.zip(found.high),
                &verdict,
            ))
        })
        .right("INSTANCES", |(_, found)| found.instances)
        .right("STOPPED EARLY", |(_, found)| found.stopped_trials)
        .right("TRIALS", |(_, found)| found.trials)
        .left("INVALID", |(_, found)| found.invalid.clone())
        .table();
    if table.is_empty() {
        String::new()
    } else {
        table.plain()
    }
}
