//! Loads on a schedule for a terminal.

use wasmbench_api::status::SummaryRow;
use wasmbench_core::units::{self, NOTHING, judged_ratio, marked};
use wasmbench_results::open_loop::achieved;

use crate::table::{Align, Table};
use crate::tables::with_mark;
use crate::terminal;

/// The points of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> String {
    let versus = format!("VERSUS {baseline}");
    let mut table = Table::new(&[
        ("OPEN LOOP", Align::Left),
        ("OF PEAK", Align::Right),
        ("REQUESTED/S", Align::Right),
        ("ACHIEVED", Align::Right),
        ("SERVICE P99", Align::Right),
        ("FROM SCHEDULE P50", Align::Right),
        ("P99", Align::Right),
        (&versus, Align::Right),
        ("INVALID", Align::Left),
    ]);
    for (row, point) in rows
        .iter()
        .flat_map(|row| row.open_loop.iter().map(move |point| (row, point)))
    {
        let ratio = point.ratio.zip(point.verdict.as_deref());
        let p99 = |time| marked(units::micros(time), !point.p99_not_carried);
        table.row(&[
            with_mark(&row.variant, baseline),
            format!("{} %", point.percent_of_peak),
            units::rate(point.requested_rps),
            achieved(point.achieved_percent / 100.0),
            p99(point.service_p99_microseconds),
            units::micros(point.p50_microseconds),
            p99(point.p99_microseconds),
            ratio.map_or_else(
                || NOTHING.to_owned(),
                |(ratio, verdict)| {
                    let verdict = terminal::words(verdict);
                    judged_ratio(ratio, point.low.zip(point.high), &verdict)
                },
            ),
            point.invalid.clone().unwrap_or_else(|| NOTHING.to_owned()),
        ]);
    }
    table.drop_columns_of(NOTHING);
    if table.is_empty() {
        String::new()
    } else {
        format!("\n{}", table.plain())
    }
}
