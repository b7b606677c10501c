//! Loads on a schedule for a terminal.

use wasmbench_api::status::SummaryRow;
use wasmbench_core::units::{self, judged_ratio, marked};
use wasmbench_results::measure::Metric;
use wasmbench_results::open_loop::achieved;

use crate::sheet::Sheet;
use crate::tables::with_mark;
use crate::terminal::words;

/// The points of one workload for a terminal; empty without any.
pub fn terminal(rows: &[&SummaryRow], baseline: &str) -> String {
    let points = rows.iter();
    let points = points.flat_map(|row| row.open_loop.iter().map(move |point| (row, point)));
    let points: Vec<_> = points.collect();
    let versus = words::versus(baseline, points.iter().any(|(_, point)| point.primary));
    let table = Sheet::of(points)
        .counting(|(_, point)| point.invalid.is_none())
        .left("OPEN LOOP", |(row, _)| with_mark(&row.variant, baseline))
        .right("OF PEAK", |(_, point)| {
            format!("{} %", point.percent_of_peak)
        })
        .measured("REQUESTED/S", |(_, point)| units::rate(point.requested_rps))
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
        .right(versus, |(_, point)| {
            let (verdict, untrusted) = (point.verdict.as_deref()?, point.untrusted.as_deref());
            let verdict = words::verdict(verdict, Metric::OpenLoopP99, untrusted);
            Some(judged_ratio(
                point.ratio?,
                point.low.zip(point.high),
                &verdict,
            ))
        })
        .left("INVALID", |(_, point)| point.invalid.clone())
        .table();
    if table.is_empty() {
        String::new()
    } else {
        format!("\n{}", table.plain())
    }
}
