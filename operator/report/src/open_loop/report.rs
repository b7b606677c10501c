//! The section of `report.md` on loads with a schedule.

use std::fmt::Write as _;

use wasmbench_core::units::{self, NOTHING, marked};
use wasmbench_results::cell::CellSummary;
use wasmbench_results::measure::{Metric, Sweep};
use wasmbench_results::open_loop::{OpenLoopSummary, achieved};
use wasmbench_results::statistics::Spread;
use wasmbench_results::summary::Summary;

use crate::table::{Align, Table, escape};
use crate::versus;

const INTRODUCTION: &str = "\
Requests at a fixed rate, which does not wait for answers. The rate is a percentage of each subject's own peak, \
which every trial measures first, so that *Requested* differs between variants. *Service* counts from the \
sending of a request; *from schedule* from the moment at which it was due, so that a stall counts for every \
request that should have been sent in it. *Waited* is the share of requests that were due before the answer \
before them on their connection had come. *Generator late* is what the load generator itself was late by (p99); it is \
in neither latency. A point of which a trial kept less than 98 % of its rate is void.\n";

/// The section; empty for a run without such a load.
pub fn section(summary: &Summary) -> String {
    let of_sweep = |cell: &CellSummary| cell.sweep == Sweep::OpenLoop;
    if !summary.cells.iter().any(of_sweep) {
        return String::new();
    }
    let mut text = format!("## Open loop\n\n{INTRODUCTION}");
    for workload in &summary.compared.workloads {
        let _ = write!(
            text,
            "\n### {}\n\n{}",
            escape(&workload.name),
            table(summary, &workload.name).markdown()
        );
        let ratios = ratios(summary, &workload.name);
        if !ratios.is_empty() {
            let baseline = escape(&summary.baseline);
            let _ = write!(
                text,
                "\nFrom the schedule, as multiples of {baseline} at the same percentage of its own \
                 peak:\n\n{}",
                ratios.markdown()
            );
        }
    }
    text
}

/// The points of one workload.
pub fn table(summary: &Summary, workload: &str) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Of peak", Align::Right),
        ("Valid", Align::Right),
        ("Peak/s", Align::Right),
        ("Requested/s", Align::Right),
        ("Achieved", Align::Right),
        ("Service p50", Align::Right),
        ("p99", Align::Right),
        ("From schedule p50", Align::Right),
        ("Interval", Align::Right),
        ("p90", Align::Right),
        ("p99", Align::Right),
        ("Interval", Align::Right),
        ("p99.9", Align::Right),
        ("Waited", Align::Right),
        ("Generator late", Align::Right),
        ("Point", Align::Left),
    ]);
    let cells = summary.cells.iter();
    for cell in cells.filter(|c| c.sweep == Sweep::OpenLoop && c.workload == workload) {
        table.row(&point(cell));
    }
    table.drop_columns_of(NOTHING);
    table
}

fn point(cell: &CellSummary) -> Vec<String> {
    let service = |time: Option<Spread>| {
        time.map_or_else(|| NOTHING.to_owned(), |time| units::micros(time.median))
    };
    let of = |text: fn(&OpenLoopSummary) -> String| {
        cell.open_loop
            .as_ref()
            .map_or_else(|| NOTHING.to_owned(), text)
    };
    let interval = |time: fn(&OpenLoopSummary) -> Spread| match &cell.open_loop {
        Some(found) if cell.counts.valid > 1 => {
            let Spread { low, high, .. } = time(found);
            format!("{} to {}", units::micros(low), units::micros(high))
        }
        _ => NOTHING.to_owned(),
    };
    let percent = cell.percent_of_peak.unwrap_or_default();
    let service_p99 = service(cell.p99_microseconds);
    let p90 = of(|found| units::micros(found.p90_microseconds.median));
    let p99 = of(|found| units::micros(found.p99_microseconds.median));
    vec![
        cell.variant.clone(),
        format!("{percent} %"),
        format!("{}/{}", cell.counts.valid, cell.counts.planned),
        of(|found| units::rate(found.peak_rps.median)),
        of(|found| units::rate(found.requested_rps.median)),
        of(|found| achieved(found.achieved_share_min)),
        service(cell.p50_microseconds),
        marked(service_p99, cell.p99_carried),
        of(|found| units::micros(found.p50_microseconds.median)),
        interval(|found| found.p50_microseconds),
        marked(p90, cell.p90_carried()),
        marked(p99, cell.p99_carried),
        interval(|found| found.p99_microseconds),
        of(|found| {
            let p999 = found.p999_microseconds;
            p999.map_or_else(|| NOTHING.to_owned(), |time| units::micros(time.median))
        }),
        of(|found| units::percent(found.waited_share.median)),
        of(|found| units::micros(found.generator_p99_microseconds.median)),
        standing(cell),
    ]
}

fn standing(cell: &CellSummary) -> String {
    let reasons = cell.invalid_because.iter();
    let reasons: Vec<&str> = reasons.map(|reason| (*reason).into()).collect();
    match (cell.ranked, reasons.is_empty()) {
        (true, _)
            if cell
                .open_loop
                .is_some_and(|found| found.may_be_the_generators()) =>
        {
            "valid, generator later than the latency".to_owned()
        }
        (true, _) => "valid".to_owned(),
        (false, false) => format!("INVALID: {}", reasons.join(", ")),
        (false, true) => "not measured".to_owned(),
    }
}

fn ratios(summary: &Summary, workload: &str) -> Table {
    let mut table = Table::new(&[
        ("Variant", Align::Left),
        ("Of peak", Align::Right),
        ("p50", Align::Right),
        ("p99", Align::Right),
        ("Blocks", Align::Right),
    ]);
    let cells = summary.cells.iter();
    for cell in cells.filter(|c| c.sweep == Sweep::OpenLoop && c.workload == workload) {
        let Some(p50) = summary.comparison(cell, Metric::OpenLoopP50) else {
            continue;
        };
        table.row(&[
            cell.variant.clone(),
            format!("{} %", cell.percent_of_peak.unwrap_or_default()),
            p50.words(),
            versus::words(summary, cell, Metric::OpenLoopP99),
            p50.estimate.blocks.to_string(),
        ]);
    }
    table.drop_columns_of(NOTHING);
    table
}
