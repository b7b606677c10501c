//! Loads on a schedule for a terminal.

use wasmbench_api::status::SummaryRow;
use wasmbench_model::units::{self, marked};
use wasmbench_results::cells::open_loop::achieved;

use crate::sheet::Sheet;
use crate::table::Table;
use crate::tables::with_mark;

/// The points of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> Table {
    let points = rows
        .iter()
        .flat_map(|row| row.open_loop.iter().map(move |point| (row, point)));
    Sheet::new(points)
        .counting(|(_, point)| point.invalid.is_none())
        .left("OPEN LOOP", |(row, _)| with_mark(&row.variant, baseline))
        .right("OF PEAK", |(_, point)| {
            Some(format!("{} %", point.percent_of_peak?))
        })
        .right("REQUESTED/S", |(_, point)| units::rate(point.requested_rps))
        .measured("ACHIEVED", |(_, point)| {
            achieved(point.achieved_percent / 100.0)
        })
        .measured("SERVICE P99", |(_, point)| {
            let p99 = units::micros(point.service_p99_microseconds);
            marked(p99, !point.p99_not_carried)
        })
        .measured("FROM SCHEDULE P50", |(_, point)| {
            units::micros(point.p50_microseconds)
        })
        .measured("P99", |(_, point)| {
            let p99 = units::micros(point.p99_microseconds);
            marked(p99, !point.p99_not_carried)
        })
        .left("INVALID", |(_, point)| point.invalid.clone())
        .table()
}
