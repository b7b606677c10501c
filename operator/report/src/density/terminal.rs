//! Density for a terminal.

use wasmbench_api::status::SummaryRow;
use wasmbench_core::units::{self, NOTHING, judged_ratio};

use crate::table::{Align, Table};
use crate::tables::with_mark;
use crate::terminal::words as status_words;

/// Density of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> String {
    let versus = format!("VERSUS {baseline}");
    let mut table = Table::new(&[
        ("DENSITY", Align::Left),
        ("PER INSTANCE", Align::Right),
        (&versus, Align::Right),
        ("INSTANCES", Align::Right),
        ("STOPPED EARLY", Align::Right),
        ("TRIALS", Align::Right),
        ("INVALID", Align::Left),
    ]);
    for row in rows {
        let Some(found) = &row.density else { continue };
        let ratio = found.ratio.zip(found.verdict.as_deref());
        table.row(&[
            with_mark(&row.variant, baseline),
            found
                .bytes_per_instance
                .map_or_else(|| NOTHING.to_owned(), units::bytes),
            ratio.map_or_else(
                || NOTHING.to_owned(),
                |(ratio, verdict)| {
                    judged_ratio(ratio, found.low.zip(found.high), &status_words(verdict))
                },
            ),
            found.instances.to_string(),
            found.stopped_trials.to_string(),
            found.trials.to_string(),
            found.invalid.clone().unwrap_or_else(|| NOTHING.to_owned()),
        ]);
    }
    table.drop_columns_of(NOTHING);
    if table.is_empty() {
        String::new()
    } else {
        table.plain()
    }
}
